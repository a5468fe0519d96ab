/**
 * Responses that last: a stream ends when its caller is no longer who they were at its beginning. The bus tells every
 * instance of the change, and what is shown to one role alone asks again before each row.
 */
import type { UserActor } from "../contracts/actor";
import type { Services } from "../contracts/context";
import { newRequestId } from "./request-id";
import { actorOf, presentedBy } from "./session";

/** "unknown": the database does not answer. */
type Answer = "holds" | "ended" | "unknown";

/** Authenticates the request's cookie or token again. A higher role than before ends nothing. */
async function ask(services: Services, { headers }: Pick<Request, "headers">, before: UserActor): Promise<Answer> {
  const now = await actorOf(services, presentedBy(headers), newRequestId(), true);
  if (now.kind !== "user") return now.kind === "guest" && now.unknown ? "unknown" : "ended";
  const same = now.id === before.id && now.via === before.via && now.session_id === before.session_id;
  return same && now.role >= before.role ? "holds" : "ended";
}

/** Whether the caller may read on. False also while the database does not answer. */
export const stillHolds = async (services: Services, request: Request, before: UserActor): Promise<boolean> =>
  (await ask(services, request, before)) === "holds";

/**
 * Calls `ended` when the caller's session or token ends, or their account is banned, deleted or loses its role, on
 * whichever instance that happens. Returns what stops it.
 */
export function watchStanding(services: Services, request: Request, before: UserActor, ended: () => void): () => void {
  const listener = async (id: string): Promise<void> => {
    if (id !== "*" && id !== String(before.id)) return;
    const answer = await ask(services, request, before);
    // The bus calls again until it can be known.
    if (answer === "unknown") throw new Error("the database did not say whether a caller may go on");
    if (answer === "ended") ended();
  };
  const { bus } = services.cluster;
  const stops = [bus.subscribe("users", listener), bus.subscribe("sessions", listener)];
  // It may have ended between the caller's authentication and the subscription.
  listener("*").catch(() => {});
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Runs `answer` for a caller, and ends its event stream with their standing; undefined when that ends before there is
 * an answer.
 */
export async function whileStanding(
  services: Services,
  request: Request,
  before: UserActor,
  answer: (request: Request) => Promise<Response>,
): Promise<Response | undefined> {
  const over = new AbortController();
  const stop = watchStanding(services, request, before, () => over.abort());
  // To what answers, the caller has left.
  const signal = AbortSignal.any([request.signal, over.signal]);
  const answering = answer(new Request(request, { signal }));
  const ended = Promise.withResolvers<undefined>();
  over.signal.addEventListener("abort", () => ended.resolve(undefined), { once: true });
  let response: Response | undefined;
  try {
    response = await Promise.race([answering, ended.promise]);
  } finally {
    if (!isEventStream(response)) stop();
  }
  if (!response) answering.then((late) => late.body?.cancel()).catch(() => {});
  if (!isEventStream(response) || !response?.body) return response;
  return new Response(cutBy(over.signal, response.body, stop), response);
}

const isEventStream = (response: Response | undefined): boolean =>
  response?.body != null && (response.headers.get("content-type") ?? "").startsWith("text/event-stream");

/** `body` until the signal; `done` is called once, at its end. */
function cutBy(signal: AbortSignal, body: ReadableStream<Uint8Array>, done: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let open = true;
  const end = (close: () => void): void => {
    if (!open) return;
    open = false;
    done();
    close();
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const cut = (): void =>
          end(() => {
            controller.close();
            reader.cancel().catch(() => {});
          });
        if (signal.aborted) cut();
        else signal.addEventListener("abort", cut, { once: true });
      },
      async pull(controller) {
        try {
          const { done: read, value } = await reader.read();
          if (read) end(() => controller.close());
          else if (open) controller.enqueue(value);
        } catch (error) {
          end(() => controller.error(error));
        }
      },
      cancel: (reason) => {
        end(() => {});
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
