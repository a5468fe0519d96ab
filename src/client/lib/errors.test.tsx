import { cleanup, render, screen, waitFor } from "../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { QueryClientProvider, useMutation, useQuery } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Toasts } from "../components/toasts";
import { toast } from "sonner";
import type { AppRouter } from "../../server/router";
import { faultOf } from "./errors";
import { callApi, CallError } from "./http";
import { createQueryClient } from "./query-client";
import { clearUser, currentUser, storeUser } from "./session";
import { fetchJson } from "./trpc";

const user = { id: 7, username: "ada", display_name: "Ada", role: 10, status: 1, group: "default" };
let server: ReturnType<typeof Bun.serve>;
let answer: (request: Request) => Response;
const seen: Record<string, string>[] = [];

beforeEach(() => {
  localStorage.clear();
  clearUser();
  seen.length = 0;
  i18n.loadAndActivate({ locale: "zh", messages: {} });
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      seen.push(Object.fromEntries(request.headers));
      return answer(request);
    },
  });
});
afterEach(async () => {
  cleanup();
  toast.dismiss();
  await server.stop(true);
});

/** Five reads that fail at once, and the toasts that come of it. */
function Readers({ quiet = false }: { quiet?: boolean }) {
  return (
    <>
      {[1, 2, 3, 4, 5].map((key) => (
        <Reader key={key} name={key} quiet={quiet} />
      ))}
    </>
  );
}

function Reader({ name, quiet }: { name: number; quiet: boolean }) {
  const read = useQuery({
    queryKey: ["read", name],
    queryFn: () => callApi<number>(`${server.url.origin}/api/thing`),
    meta: { quiet },
  });
  return <p>{read.error ? "failed" : "…"}</p>;
}

function show(children: React.ReactNode) {
  return render(
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={createQueryClient()}>
        {children}
        <Toasts />
      </QueryClientProvider>
    </I18nProvider>,
  );
}

const failed = () => waitFor(() => expect(screen.getAllByText("failed")).toHaveLength(5), { timeout: 4000 });

describe("reporting failures", () => {
  test.each([
    // spec: A-471
    [429, "请求过于频繁，请稍后再试"],
    // spec: A-472
    [500, "服务器内部错误，请联系管理员"],
    // spec: A-473
    [405, "本站仅供演示，没有服务端"],
  ])("five calls that fail with %d make one toast: %s", async (status, text) => {
    answer = () => new Response("", { status });
    show(<Readers quiet />);
    await failed();
    // spec, C-566, C-567
    expect(await screen.findAllByText(text)).toHaveLength(1);
  });

  test("another status is shown with its words", async () => {
    answer = () => Response.json({ success: false, message: "茶壶" }, { status: 418 });
    show(<Readers />);
    await failed();
    // spec: A-474
    expect(await screen.findAllByText("错误：茶壶")).toHaveLength(1);
  });

  test("a server that cannot be reached is said once", async () => {
    await server.stop(true);
    show(<Readers quiet />);
    await failed();
    // spec: C-570
    expect(await screen.findAllByText("无法连接到服务器")).toHaveLength(1);
  });

  test("a 401 forgets the user and leads to the login page with the page asked for, once", async () => {
    storeUser(user);
    history.replaceState(null, "", "/log?p=2");
    answer = () => Response.json({ success: false, message: "未登录" }, { status: 401 });
    show(<Readers />);
    await failed();
    // spec: C-564
    expect(currentUser()).toBeNull();
    expect(localStorage.getItem("user")).toBeNull();
    // spec: A-470, C-564, C-565, D-76
    expect(location.pathname + location.search).toBe("/login?expired=true&redirect=%2Flog%3Fp%3D2");
  });

  test("only a 401 signs the user out", async () => {
    storeUser(user);
    answer = () => Response.json({ success: false, message: "无权进行此操作" }, { status: 403 });
    show(<Readers quiet />);
    await failed();
    // spec: C-565
    expect(currentUser()).toEqual(user);
  });

  test("what the server refuses is shown in its own words, also after a mutation", async () => {
    answer = () => Response.json({ success: false, message: "渠道未找到，请刷新页面后重试。" });
    function Writer() {
      const write = useMutation({ mutationFn: () => callApi(`${server.url.origin}/api/thing`, { method: "POST" }) });
      return <button onClick={() => write.mutate()}>write</button>;
    }
    show(<Writer />);
    screen.getByText("write").click();
    // spec: A-469, C-563
    expect(await screen.findAllByText("渠道未找到，请刷新页面后重试。")).toHaveLength(1);
  });

  test("a quiet query leaves the server's words to its page", async () => {
    answer = () => Response.json({ success: false, message: "余额不足" });
    show(<Readers quiet />);
    await failed();
    expect(screen.queryByText("余额不足")).toBeNull();
  });
});

describe("what a call carries", () => {
  test("the stored user's id, -1 when signed out, no caching and the language", async () => {
    answer = () => Response.json({ success: true, message: "", data: 1 });
    await callApi(`${server.url.origin}/api/thing`);
    storeUser(user);
    i18n.loadAndActivate({ locale: "en", messages: {} });
    await callApi(`${server.url.origin}/api/thing`);
    // spec, C-477, D-37
    expect(seen.map((request) => request["new-api-user"])).toEqual(["-1", "7"]);
    // spec: D-78
    expect(seen.map((request) => request["accept-language"])).toEqual(["zh", "en"]);
    // spec: A-418, C-478
    expect(seen[0]?.["cache-control"]).toBe("no-store");
  });
});

describe("reading a failure", () => {
  test("a tRPC refusal keeps the server's words and the request id", () => {
    const error = new TRPCClientError("余额不足", {
      result: { error: { message: "余额不足", code: -32600, data: { httpStatus: 403, request_id: "req-1" } } },
    });
    expect(faultOf(error)).toEqual({ kind: "refused", status: 403, message: "余额不足", requestId: "req-1" });
  });

  test("a tRPC call that got no answer is a connection fault", () => {
    expect(faultOf(TRPCClientError.from(new TypeError("Failed to fetch"))).kind).toBe("unreachable");
  });

  test.each([
    [429, "too-many-requests"],
    [500, "server"],
    [405, "demo"],
    [413, "http"],
  ] as const)("a batched tRPC call keeps the status %d of an answer that is no JSON", async (status, kind) => {
    answer = () => new Response("", { status });
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${server.url.origin}/trpc`, fetch: fetchJson })],
    });
    const error = await client.user.self.query().catch((reason: unknown) => reason);
    expect(faultOf(error)).toMatchObject({ kind, status });
  });

  test("an error of the program is distinguished from a failed call", () => {
    expect(faultOf(new Error("x is undefined")).kind).toBe("bug");
    expect(faultOf(new CallError("余额不足", 200, null)).kind).toBe("refused");
  });
});
