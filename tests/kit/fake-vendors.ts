/**
 * Vendors that stream exactly what a test needs, in their own dialects: pieces of content, token counts at any
 * position, and any kind of end. One address per script: `<url>/<name>`.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { NewChannel } from "./weir";

export const vendorKeys = ["chat", "responses", "anthropic", "gemini", "cohere", "dify"] as const;
export type VendorKey = (typeof vendorKeys)[number];

type Json = Record<string, unknown>;

/** What a vendor sends next. */
export type Piece =
  | { thought: string }
  | { text: string }
  /** The arguments of a tool call, JSON. */
  | { call: string }
  /** Token counts; `null` is left out. */
  | { counts: { input: number | null; output: number | null } }
  /** A raw frame. */
  | { frame: Json | string; event?: string }
  /** Bytes of the stream as they are. */
  | { raw: string };

/** How a script ends: the connection stays open in silence, breaks, sends an error, or closes normally. */
export type End = "silence" | "cut" | "error" | "close";

export interface Script {
  vendor: VendorKey;
  pieces: readonly Piece[];
  end: End;
  /** Sent repeatedly, this many milliseconds apart, until the connection closes. */
  endless?: { piece: Piece; everyMs: number };
}

/** The channel's type and settings for a vendor. */
export const channelOf: Readonly<Record<VendorKey, Pick<NewChannel, "type"> & { setting?: Json }>> = {
  chat: { type: 1 },
  responses: { type: 1, setting: { native_calls: "always" } },
  anthropic: { type: 14 },
  gemini: { type: 24 },
  cohere: { type: 34 },
  dify: { type: 37 },
};

const write = (data: Json | string, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** Writes one stream: numbers its blocks. */
class Writer {
  #block = -1;
  #kind = "";

  constructor(readonly vendor: VendorKey) {}

  /** True when a block of another kind begins. */
  #begins(kind: string): boolean {
    if (this.#kind === kind && kind !== "call") return false;
    this.#kind = kind;
    this.#block++;
    return true;
  }

  begin(): string {
    switch (this.vendor) {
      case "anthropic":
        // The vendor's own first frame: the input, and one token of output before any content.
        return write(
          {
            type: "message_start",
            message: {
              id: "msg_1",
              type: "message",
              role: "assistant",
              model: "m",
              content: [],
              stop_reason: null,
              usage: { input_tokens: 100, output_tokens: 1 },
            },
          },
          "message_start",
        );
      case "responses":
        return write(
          {
            type: "response.created",
            response: {
              id: "resp_1",
              object: "response",
              created_at: 1,
              status: "in_progress",
              model: "m",
              output: [],
              usage: null,
            },
          },
          "response.created",
        );
      case "cohere":
        return write(
          { type: "message-start", id: "c1", delta: { message: { role: "assistant", content: [], tool_calls: [] } } },
          "message-start",
        );
      default:
        return "";
    }
  }

  piece(piece: Piece): string {
    if ("raw" in piece) return piece.raw;
    if ("frame" in piece) return write(piece.frame, piece.event);
    if ("counts" in piece) return this.#counts(piece.counts);
    const [kind, words] =
      "thought" in piece
        ? (["thought", piece.thought] as const)
        : "text" in piece
          ? (["text", piece.text] as const)
          : (["call", piece.call] as const);
    switch (this.vendor) {
      case "chat": {
        const delta =
          kind === "thought"
            ? { reasoning_content: words }
            : kind === "text"
              ? { content: words }
              : {
                  tool_calls: [
                    { index: 0, id: "call_1", type: "function", function: { name: "note", arguments: words } },
                  ],
                };
        return write({
          id: "c1",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [{ index: 0, delta, finish_reason: null }],
        });
      }
      case "anthropic": {
        const start =
          kind === "thought"
            ? { type: "thinking", thinking: "" }
            : kind === "text"
              ? { type: "text", text: "" }
              : { type: "tool_use", id: "toolu_1", name: "note", input: {} };
        const delta =
          kind === "thought"
            ? { type: "thinking_delta", thinking: words }
            : kind === "text"
              ? { type: "text_delta", text: words }
              : { type: "input_json_delta", partial_json: words };
        const stop =
          this.#kind !== "" && this.#kind !== kind
            ? write({ type: "content_block_stop", index: this.#block }, "content_block_stop")
            : "";
        const begun = this.#begins(kind)
          ? stop +
            write({ type: "content_block_start", index: this.#block, content_block: start }, "content_block_start")
          : "";
        return begun + write({ type: "content_block_delta", index: this.#block, delta }, "content_block_delta");
      }
      case "gemini": {
        const part =
          kind === "thought"
            ? { text: words, thought: true }
            : kind === "text"
              ? { text: words }
              : { functionCall: { name: "note", args: JSON.parse(words) } };
        // Google repeats the prompt's count in every frame, and reports the output only at the end.
        return write({
          candidates: [{ index: 0, content: { role: "model", parts: [part] } }],
          usageMetadata: { promptTokenCount: 100 },
          modelVersion: "m",
          responseId: "g1",
        });
      }
      case "responses": {
        const item =
          kind === "thought"
            ? { id: "rs_1", type: "reasoning", summary: [] }
            : kind === "text"
              ? { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] }
              : {
                  id: "fc_1",
                  type: "function_call",
                  status: "in_progress",
                  call_id: "call_1",
                  name: "note",
                  arguments: "",
                };
        const begun = this.#begins(kind)
          ? write({ type: "response.output_item.added", output_index: this.#block, item }, "response.output_item.added")
          : "";
        const type =
          kind === "thought"
            ? "response.reasoning_summary_text.delta"
            : kind === "text"
              ? "response.output_text.delta"
              : "response.function_call_arguments.delta";
        const at = kind === "thought" ? { summary_index: 0 } : kind === "text" ? { content_index: 0 } : {};
        return begun + write({ type, output_index: this.#block, item_id: item.id, ...at, delta: words }, type);
      }
      case "cohere": {
        if (kind === "call") {
          const begun = this.#begins(kind)
            ? write(
                {
                  type: "tool-call-start",
                  index: 0,
                  delta: {
                    message: {
                      tool_calls: { id: "call_1", type: "function", function: { name: "note", arguments: "" } },
                    },
                  },
                },
                "tool-call-start",
              )
            : "";
          return (
            begun +
            write(
              {
                type: "tool-call-delta",
                index: 0,
                delta: { message: { tool_calls: { function: { arguments: words } } } },
              },
              "tool-call-delta",
            )
          );
        }
        const name = kind === "thought" ? "thinking" : "text";
        const end =
          this.#kind !== "" && this.#kind !== kind
            ? write({ type: "content-end", index: this.#block }, "content-end")
            : "";
        const begun = this.#begins(kind)
          ? end +
            write(
              {
                type: "content-start",
                index: this.#block,
                delta: { message: { content: { type: name, [name]: "" } } },
              },
              "content-start",
            )
          : "";
        return (
          begun +
          write(
            { type: "content-delta", index: this.#block, delta: { message: { content: { [name]: words } } } },
            "content-delta",
          )
        );
      }
      case "dify":
        return write({ event: "message", message_id: "d1", conversation_id: "v1", answer: words });
    }
  }

  #counts({ input, output }: { input: number | null; output: number | null }): string {
    const some = (members: Record<string, number | null>): Json =>
      Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
    switch (this.vendor) {
      case "chat":
        return write({
          id: "c1",
          object: "chat.completion.chunk",
          created: 1,
          model: "m",
          choices: [],
          usage: some({ prompt_tokens: input, completion_tokens: output }),
        });
      case "anthropic":
        return write(
          { type: "message_delta", delta: {}, usage: some({ input_tokens: input, output_tokens: output }) },
          "message_delta",
        );
      case "gemini":
        return write({
          candidates: [],
          usageMetadata: some({ promptTokenCount: input, candidatesTokenCount: output }),
          modelVersion: "m",
          responseId: "g1",
        });
      default:
        throw new Error(`${this.vendor} counts at its end alone`);
    }
  }

  error(): string {
    switch (this.vendor) {
      case "chat":
        return write({ error: { message: "it broke", type: "server_error", code: "server_error" } });
      case "anthropic":
        return write({ type: "error", error: { type: "api_error", message: "it broke" } }, "error");
      case "gemini":
        return write({ error: { code: 500, message: "it broke", status: "INTERNAL" } });
      case "responses":
        return write({ type: "error", code: "server_error", message: "it broke", param: null }, "error");
      case "cohere":
        return write({ type: "message-end", delta: { error: "it broke", finish_reason: "ERROR" } }, "message-end");
      case "dify":
        return write({ event: "error", status: 500, code: "internal", message: "it broke" });
    }
  }
}

/** The stream of a script as bytes of frames, without its end. */
export function framesOf({ vendor, pieces }: Pick<Script, "vendor" | "pieces">): string[] {
  const writer = new Writer(vendor);
  return [writer.begin(), ...pieces.map((piece) => writer.piece(piece))].filter((frame) => frame !== "");
}

/** Serves scripts by the first part of the path. */
export async function startFakeVendors(): Promise<{ url: string; scripts: Map<string, Script>; close(): void }> {
  const scripts = new Map<string, Script>();
  // Not Bun.serve: it cannot cut a connection.
  const server = createServer((request, response) => {
    const script = scripts.get((request.url ?? "").split("/")[1] ?? "");
    request.resume();
    if (script) return void play(script, response);
    response.writeHead(404, { "content-type": "application/json" }).end('{"error":{"message":"no such script"}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    scripts,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function play(script: Script, response: ServerResponse): Promise<void> {
  const { endless, vendor, end } = script;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const writer = new Writer(vendor);
  const send = (text: string): void => void (text !== "" && response.write(text));
  send(writer.begin() + script.pieces.map((piece) => writer.piece(piece)).join(""));
  while (endless && !response.destroyed) {
    await Bun.sleep(endless.everyMs);
    send(writer.piece(endless.piece));
  }
  if (end === "error") send(writer.error());
  // Bytes sent before a cut must arrive: a broken stream may be discarded whole.
  if (end === "cut") await Bun.sleep(100);
  if (end === "cut") response.destroy();
  else if (end !== "silence") response.end();
}

/** The path and body of a streamed call, and its key in the header of its dialect. */
export const callerKeys = ["chat", "responses", "anthropic", "gemini"] as const;
export type CallerKey = (typeof callerKeys)[number];

/** The caller dialects of a vendor: its Responses API is for callers of Responses only. */
export const pairs: readonly (readonly [VendorKey, CallerKey])[] = vendorKeys.flatMap((vendor) =>
  callerKeys
    .filter((caller) => vendor !== "responses" || caller === "responses")
    .map((caller) => [vendor, caller] as const),
);

/** A streamed call of `model` in a caller's dialect. */
export function askIn(
  url: string,
  caller: CallerKey,
  key: string,
  model: string,
  init: {
    signal?: AbortSignal;
    stream?: boolean;
    max?: number;
    more?: Json;
    prompt?: string;
    headers?: Record<string, string>;
  } = {},
): Promise<Response> {
  const { signal, stream = true, max, more = {}, prompt = "Tell me a long story about the sea.", headers = {} } = init;
  const messages = [{ role: "user", content: prompt }];
  const [path, body]: [string, Json] =
    caller === "chat"
      ? [
          "/v1/chat/completions",
          {
            model,
            stream,
            messages,
            ...(stream && { stream_options: { include_usage: true } }),
            ...(max && { max_tokens: max }),
          },
        ]
      : caller === "responses"
        ? ["/v1/responses", { model, stream, input: messages, ...(max && { max_output_tokens: max }) }]
        : caller === "anthropic"
          ? ["/v1/messages", { model, stream, max_tokens: max ?? 30_000, messages }]
          : [
              `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
              {
                contents: [{ role: "user", parts: [{ text: prompt }] }],
                ...(max && { generationConfig: { maxOutputTokens: max } }),
              },
            ];
  return fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      "anthropic-version": "2023-06-01",
      ...headers,
    },
    body: JSON.stringify({ ...body, ...more }),
    ...(signal && { signal }),
  });
}
