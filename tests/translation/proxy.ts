/** A minimal gateway: the translations between an HTTP caller and the fake upstream, without billing and retries. */
import type { DialectKey, WireObject } from "../../src/server/protocol/chat-events";
import type { RelayError } from "../../src/server/protocol/relay-error";
import { FrameSplitter } from "../../src/server/lib/sse";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { StreamTranslator, translateAnswer, translateRequest } from "../../src/server/protocol/translate";

const paths: Record<Exclude<DialectKey, "gemini">, string> = {
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  anthropic: "/v1/messages",
};

function addressOf(to: DialectKey, model: string, stream: boolean): string {
  if (to !== "gemini") return paths[to];
  return `/v1beta/models/${encodeURIComponent(model)}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`;
}

/** The dialect of a path, and its parameters. */
function readPath(url: URL): { from: DialectKey; model?: string; stream?: boolean } | undefined {
  const gemini = /\/models\/([^:]+(?::[^:]+)*):(generateContent|streamGenerateContent)$/.exec(
    decodeURIComponent(url.pathname),
  );
  if (gemini) return { from: "gemini", model: gemini[1] ?? "", stream: gemini[2] === "streamGenerateContent" };
  if (url.pathname.endsWith("/chat/completions")) return { from: "openai-chat" };
  if (url.pathname.endsWith("/responses")) return { from: "openai-responses" };
  if (url.pathname.endsWith("/messages")) return { from: "anthropic" };
  return undefined;
}

/** Serves on any free port; the header x-upstream names the dialect of `upstream`. */
export function startProxy(upstream: string): { url: string; close(): void } {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const address = readPath(new URL(request.url));
      if (!address) return new Response(null, { status: 404 });
      const { from } = address;
      // The tests name a dialect.
      const to = request.headers.get("x-upstream") as DialectKey;
      const body = (await request.json()) as WireObject;
      const model = address.model ?? String(body.model);
      const { prompt, body: sent } = translateRequest(from, to, body, model, address);
      const answer = await fetch(upstream + addressOf(to, model, prompt.stream === true), {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: "Bearer k",
          "x-api-key": "k",
          "x-goog-api-key": "k",
          "anthropic-version": "2023-06-01",
        },
        body: JSON.stringify(sent),
      });
      const context = {
        id: "req1",
        model,
        created: 1_763_700_000,
        include_usage: prompt.include_usage === true,
        request: body,
      };
      const failed = (status: number, message: string): RelayError => ({
        status,
        type: "upstream_error",
        code: "upstream",
        message,
        param: null,
      });
      if (!answer.ok) {
        const read = chatDialects[to].readError(await answer.json());
        return Response.json(chatDialects[from].writeError(failed(answer.status, read?.message ?? "failed")), {
          status: answer.status,
        });
      }
      if (!prompt.stream || !answer.body) {
        const translated = translateAnswer(to, from, (await answer.json()) as WireObject, context);
        return Response.json(translated?.body ?? {}, { status: translated ? 200 : 502 });
      }
      const translator = new StreamTranslator(to, from, context);
      const splitter = new FrameSplitter();
      const stream = answer.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, controller) {
            const region = splitter.push(chunk);
            if (region) controller.enqueue(translator.feed(region));
          },
          flush(controller) {
            controller.enqueue(translator.feed(splitter.end()));
            controller.enqueue(translator.end());
            const { error } = translator;
            controller.enqueue(error ? translator.fail(failed(502, error.message)) : translator.close());
          },
        }),
      );
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, close: () => void server.stop(true) };
}
