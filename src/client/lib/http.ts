import { currentLanguage } from "./i18n";
import { currentUser } from "./session";

/** The headers of every call: the user id in local storage (-1 for none), no caching, the language of server texts. */
export function callHeaders(): Record<string, string> {
  return {
    "New-Api-User": String(currentUser()?.id ?? -1),
    "Cache-Control": "no-store",
    "Accept-Language": currentLanguage(),
  };
}

/** A call that did not succeed: `status` 0 when no answer came at all, 200 when the envelope said success=false. */
export class CallError extends Error {
  override readonly name = "CallError";
  constructor(
    message: string,
    readonly status: number,
    readonly requestId: string | null,
    /** The server's error, as in shared/errors; null when it did not name one. */
    readonly code: string | null = null,
  ) {
    super(message);
  }
}

/** The envelope that came instead of what was asked for. */
export async function refusalOf(response: Response): Promise<CallError> {
  const body: { message?: unknown; code?: unknown } | null = await response.json().catch(() => null);
  return new CallError(
    typeof body?.message === "string" ? body.message : response.statusText,
    response.status,
    response.headers.get("x-request-id"),
    typeof body?.code === "string" ? body.code : null,
  );
}

/**
 * The status to tell of an answer that is not the server's own. A proxy says so in a page of its own when the server
 * behind it is gone: that is no answer, as without the proxy.
 */
export const foreignStatus = ({ ok, status }: Response): number =>
  [502, 503, 504].includes(status) ? 0 : ok ? 500 : status;

/** A part of the console that the server no longer has: it runs another build than the one this page came from. */
export class OutdatedPage extends Error {
  override readonly name = "OutdatedPage";
}

/** Whether the server can be reached at all; one that refuses this call, as too many, is there. */
export async function isServerThere(): Promise<boolean> {
  try {
    return foreignStatus(await fetch("/api/status", { cache: "no-store" })) !== 0;
  } catch {
    return false;
  }
}

interface Envelope<T> {
  success: boolean;
  message: string;
  data: T;
}

/**
 * Calls an `/api` endpoint and returns its `data`. For the status, which is requested before React is loaded; pages use
 * lib/trpc. The caller names the shape it expects, as the specification gives it.
 *
 * @throws CallError on no answer, on another status than 2xx and on success=false.
 */
export async function callApi<T>(path: string, init: RequestInit = {}): Promise<T> {
  const { data } = await callEnvelope<Envelope<T>>(path, init);
  return data;
}

/** As `callApi`, for endpoints whose response has more members than `data`. */
export async function callEnvelope<T extends object>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers: { ...callHeaders(), ...init.headers } });
  } catch (error) {
    throw new CallError(error instanceof Error ? error.message : String(error), 0, null);
  }
  const requestId = response.headers.get("x-request-id");
  const envelope: Partial<Envelope<unknown>> | null = await response.json().catch(() => null);
  if (!response.ok || !envelope?.success) {
    throw new CallError(
      envelope?.message || response.statusText,
      envelope ? response.status : foreignStatus(response),
      requestId,
    );
  }
  // The envelope is as trustworthy as its sender: our own server.
  return envelope as T;
}
