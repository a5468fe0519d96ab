/**
 * The upstream of the demo channel: an OpenAI chat API inside this process, free, at `/demo/v1/…`. It answers calls
 * with the derived key only, so it is not an open endpoint. A local address would prove nothing: behind a proxy on this
 * machine every caller has one.
 */
import { DEMO_MODEL } from "../../../shared/demo";
import type { Secrets } from "../../lib/secrets";
import { sameText } from "../../lib/secrets";
import { answerDemo, completionOf, demoRequest, framesOf } from "./answer";
import { demoKey } from "./key";

/** Answers a request to `/demo/*`. */
export type DemoUpstream = (request: Request) => Promise<Response>;

export interface DemoUpstreamDeps {
  secrets: Secrets;
  /** Milliseconds between two tokens of a stream, so that streaming can be seen. */
  pace?: number;
  /** Epoch milliseconds. */
  now?: () => number;
}

const PACE_MS = 15;

export function createDemoUpstream({ secrets, pace = PACE_MS, now = Date.now }: DemoUpstreamDeps): DemoUpstream {
  const expected = `Bearer ${demoKey(secrets)}`;

  return async (request) => {
    if (!sameText(request.headers.get("authorization") ?? "", expected)) {
      return refusal(401, "invalid_api_key", "This address serves the gateway's own demo channel only.");
    }
    const { pathname } = new URL(request.url);
    const created = Math.floor(now() / 1000);
    if (request.method === "GET" && pathname === "/demo/v1/models") {
      return Response.json({ object: "list", data: [{ id: DEMO_MODEL, object: "model", created, owned_by: "weir" }] });
    }
    if (request.method !== "POST" || pathname !== "/demo/v1/chat/completions") {
      return refusal(404, "not_found", "The demo channel answers chat completions only.");
    }
    const parsed = demoRequest.safeParse(await request.json().catch(() => null));
    if (!parsed.success) return refusal(400, "invalid_request", parsed.error.issues[0]?.message ?? "Bad request.");
    if (parsed.data.model !== DEMO_MODEL)
      return refusal(404, "model_not_found", `The demo channel has one model: ${DEMO_MODEL}.`);
    const answer = answerDemo(parsed.data);
    const envelope = { id: `chatcmpl-demo-${crypto.randomUUID()}`, created };
    if (!parsed.data.stream) return Response.json(completionOf(answer, envelope));
    const frames = framesOf(answer, envelope, parsed.data.stream_options?.include_usage ?? false);
    return new Response(paced(frames, pace), {
      headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" },
    });
  };
}

/** One frame per pull, `pace` apart; a reader that stops ends it. */
function paced(frames: Iterator<string>, pace: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    pull: async (controller) => {
      const next = frames.next();
      if (next.done) return controller.close();
      if (pace > 0) await Bun.sleep(pace);
      controller.enqueue(encoder.encode(next.value));
    },
  });
}

function refusal(status: number, code: string, message: string): Response {
  return Response.json({ error: { message, type: "invalid_request_error", param: null, code } }, { status });
}
