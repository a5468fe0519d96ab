/**
 * Renders a page of the console with fake responses of the server.
 *
 * Load this, and everything that loads React, by `await import(…)` after `import "tests/dom"`: CommonJS packages are
 * evaluated before the first import of a test file, and React and Testing Library look for a document when they load.
 */
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { QueryClientProvider } from "@tanstack/react-query";
import { cleanup, configure, render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactElement } from "react";
import { ClipboardFallback } from "../../src/client/components/clipboard-fallback";
import { activateLanguage } from "../../src/client/lib/i18n";
import { createQueryClient } from "../../src/client/lib/query-client";
import { createTrpcClient, trpc } from "../../src/client/lib/trpc";
import { TooltipProvider } from "../../src/client/ui/tooltip";
import { type ErrorCode, errors, errorText } from "../../src/shared/errors";

/** The result of a procedure for its input, at once or later; a thrown `Refusal` becomes the server's error. */
export type Procedures = Record<string, (input: never) => unknown>;

export class Refusal extends Error {
  constructor(readonly code: ErrorCode) {
    super(code);
  }
}

/** Thrown by a procedure that did what was asked, and whose answer never comes. */
export class AnswerLost extends Error {}

export { screen, waitFor } from "@testing-library/react";

export interface FakeServer {
  /** Procedures by path (`auth.login`); plain paths (`/v1/models`) get the request itself. */
  procedures?: Procedures;
  paths?: Record<string, (request: Request) => Response | Promise<Response>>;
}

export interface RenderedPage {
  user: ReturnType<typeof userEvent.setup>;
  /** Every call in order: procedure and input. */
  calls: { path: string; input: unknown }[];
  /** The idempotency key of each of them, where there was one. */
  keys: (string | null)[];
  container: HTMLElement;
}

// A machine that runs other tests at the same time answers late.
configure({ asyncUtilTimeout: 10_000 });

const realFetch = globalThis.fetch;

/** Renders `page` at `address`, in Chinese. End each test with `closePage()`. */
export async function openPage(
  page: ReactElement,
  address: string,
  { procedures = {}, paths = {} }: FakeServer = {},
): Promise<RenderedPage> {
  history.replaceState(null, "", address);
  await activateLanguage("zh");
  const calls: RenderedPage["calls"] = [];
  const keys: RenderedPage["keys"] = [];
  const answer = async (path: string, input: unknown, key: string | null): Promise<object> => {
    calls.push({ path, input });
    keys.push(key);
    const procedure = procedures[path];
    if (!procedure) return refusal("not_found", path);
    try {
      // A test names the expected input.
      return { result: { data: await procedure(input as never) } };
    } catch (error) {
      if (error instanceof AnswerLost) throw new TypeError("Failed to fetch");
      return refusal(error instanceof Refusal ? error.code : "internal", path);
    }
  };
  const fake = async (target: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(
      new URL(target instanceof Request ? target.url : String(target), "http://localhost/"),
      init,
    );
    const url = new URL(request.url);
    const path = paths[url.pathname];
    if (path) return path(request);
    if (!url.pathname.startsWith("/trpc/")) return new Response("", { status: 404 });
    const text = request.method === "POST" ? await request.text() : url.searchParams.get("input");
    const inputs: Record<string, unknown> = text ? JSON.parse(text) : {};
    const key = request.headers.get("idempotency-key");
    const names = url.pathname.slice("/trpc/".length).split(",");
    return Response.json(await Promise.all(names.map((name, index) => answer(name, inputs[index], key))));
  };
  globalThis.fetch = Object.assign(fake, { preconnect: realFetch.preconnect });

  const user = userEvent.setup();
  const { container } = render(
    <I18nProvider i18n={i18n}>
      <trpc.Provider client={createTrpcClient()} queryClient={queries}>
        <QueryClientProvider client={queries}>
          <TooltipProvider>
            {page}
            <ClipboardFallback />
          </TooltipProvider>
        </QueryClientProvider>
      </trpc.Provider>
    </I18nProvider>,
  );
  return { user, calls, keys, container };
}

let queries = createQueryClient();

/** Unmounts the page and restores network and storage. */
export function closePage(): void {
  cleanup();
  queries.clear();
  queries = createQueryClient();
  globalThis.fetch = realFetch;
  localStorage.clear();
}

function refusal(code: ErrorCode, path: string): object {
  const message = errorText(code, {}, "zh");
  return {
    error: {
      message,
      code: -32000,
      data: { code: "BAD_REQUEST", httpStatus: errors[code].status, path, app: code, values: {}, request_id: "test" },
    },
  };
}
