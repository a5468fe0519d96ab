/**
 * Every channel type of the registry against a fake of its vendor in the vendor's wire format: each declared operation
 * is called at the right address, with the right key and body, plain and streamed, by callers of several dialects.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type ChannelType, channelTypes, keyProblem } from "../../src/shared/channel-types";
import { isUpstreamDialect } from "../../src/server/protocol/dialects/vendor-dialects";
import { embeddings } from "../../src/server/relay/operations/embeddings";
import { chat, completions } from "../../src/server/relay/operations/chat";
import { imageGenerations } from "../../src/server/relay/operations/images";
import { moderations } from "../../src/server/relay/operations/moderations";
import type { Operation } from "../../src/server/relay/operations/operation";
import { rerank } from "../../src/server/relay/operations/rerank";
import { speech } from "../../src/server/relay/operations/speech";
import { transcriptions } from "../../src/server/relay/operations/transcription";
import { providerOf, taskTypes } from "../../src/server/relay/providers/registry";
import { urlOf } from "../../src/server/relay/providers/address";
import { type Bench, makeBench, makeChannel } from "../relay/kit";
import { ordinaryVendor, sampleKey } from "./ordinary";
import type { VendorFake } from "./vendor-fake";

const VENDORS = join(import.meta.dir, "vendors");
const fakes = new Map<string, VendorFake>();
for (const file of [...new Bun.Glob("*.ts").scanSync({ cwd: VENDORS })].sort()) {
  const { vendor } = (await import(join(VENDORS, file))) as { vendor: VendorFake };
  for (const type of vendor.types) fakes.set(type, vendor);
}

const types: readonly ChannelType[] = channelTypes;
const tasks = new Set<string>(taskTypes);
const operations: readonly Operation[] = [
  chat,
  completions,
  embeddings,
  imageGenerations,
  speech,
  transcriptions,
  moderations,
  rerank,
];
const vendorOf = (type: ChannelType): VendorFake | undefined =>
  fakes.get(type.key) ??
  (!type.custom && type.dialect === "openai-chat" && type.operations.includes("chat")
    ? ordinaryVendor(type)
    : undefined);

const keyOf = (vendor: VendorFake, origin: string): string =>
  typeof vendor.key === "function" ? vendor.key(origin) : (vendor.key ?? "upstream-key");

const channelOf = (type: ChannelType, base_url = "https://up.example") => {
  const vendor = vendorOf(type);
  return makeChannel(1, base_url, {
    type,
    key: vendor ? keyOf(vendor, base_url) : sampleKey(type),
    other: vendor?.other ?? "",
  });
};

const stops: (() => void)[] = [];
afterAll(() => stops.forEach((stop) => stop()));

/** A fake vendor on its own server, and a relay with one channel to it. */
function play(type: ChannelType, vendor: VendorFake): { bench: Bench; faults: unknown[] } {
  const faults: unknown[] = [];
  const server = Bun.serve<{ url: URL }>({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, self) {
      const url = new URL(request.url);
      if (vendor.message && self.upgrade(request, { data: { url } })) return undefined;
      const text = await request.text();
      const base = (vendor.base ?? "").replace("{model}", "");
      const parsed: unknown = text.startsWith("{") ? JSON.parse(text) : {};
      const path = url.pathname + url.search;
      try {
        return await vendor.answer({
          method: request.method,
          origin: url.origin + base,
          url,
          path: path.startsWith(base) ? path.slice(base.length) : path,
          headers: request.headers,
          text,
          json: parsed as Record<string, unknown>,
        });
      } catch (error) {
        faults.push(error);
        return new Response("the fake does not take this", { status: 500 });
      }
    },
    websocket: {
      open() {},
      message(socket, text) {
        try {
          vendor.message?.(
            String(text),
            socket.data.url,
            (answer) => void socket.send(answer),
            () => socket.close(),
          );
        } catch (error) {
          faults.push(error);
          socket.close(1011);
        }
      },
    },
  });
  stops.push(() => void server.stop(true));
  const address = `${vendor.scheme ?? "http"}://127.0.0.1:${server.port}${vendor.base ?? ""}`;
  const channel = makeChannel(1, address, { type, key: keyOf(vendor, address), other: vendor.other ?? "" });
  return { bench: makeBench([channel]), faults };
}

interface Read {
  status: number;
  text: string;
  json: Record<string, unknown>;
  headers: Headers;
}

async function send(
  { bench, faults }: ReturnType<typeof play>,
  path: string,
  body: object,
  headers?: Record<string, string>,
): Promise<Read> {
  const response = await (body instanceof FormData
    ? bench.send(path, undefined, { method: "POST", body, headers })
    : bench.send(path, body, { headers }));
  const text = await response.text();
  await bench.quiet();
  expect(faults).toEqual([]);
  expect(bench.ledger.holds.size).toBe(0);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = {};
  }
  return { status: response.status, text, json: json as Record<string, unknown>, headers: response.headers };
}

/** A chat call in a caller's dialect, and where its answer's text is. */
const callers = {
  "openai-chat": {
    path: "/v1/chat/completions",
    body: (model: string, stream: boolean) => ({ model, stream, messages: [{ role: "user", content: "hello" }] }),
    words: ["content"],
    last: /data: \[DONE\]\n\n$/,
  },
  anthropic: {
    path: "/v1/messages",
    body: (model: string, stream: boolean) => ({
      model,
      stream,
      max_tokens: 100,
      messages: [{ role: "user", content: "hello" }],
    }),
    words: ["text"],
    last: /event: message_stop\ndata: [^\n]+\n\n$/,
  },
  "openai-responses": {
    path: "/v1/responses",
    body: (model: string, stream: boolean) => ({ model, stream, input: "hello" }),
    words: ["text", "delta"],
    last: /event: response\.completed\ndata: [^\n]+\n\n$/,
  },
} as const;

/** The charge when the vendor reports no usage. */
const aCount: unknown = expect.any(Number);

/** Every text under one of the names, joined. */
function texts(value: unknown, names: readonly string[]): string {
  if (Array.isArray(value)) return value.map((item) => texts(item, names)).join("");
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([name, member]) => (typeof member === "string" ? (names.includes(name) ? member : "") : texts(member, names)))
    .join("");
}

const framesOf = (text: string): unknown[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as unknown] : []));

describe("the registry", () => {
  test("a custom type has a provider file, or is served by the task engine", () => {
    for (const type of types) {
      expect([type.key, providerOf(channelOf(type)) === undefined]).toEqual([type.key, tasks.has(type.key)]);
    }
  });

  test("every operation that a type declares has an address in a supported dialect, and no other operation has one", () => {
    const wrong: string[] = [];
    for (const type of types) {
      const channel = channelOf(type);
      if (!providerOf(channel)) continue;
      for (const operation of operations) {
        const served = type.models
          .concat(vendorOf(type)?.model ?? "m")
          .some((model) => urlOf(channel, operation, model) !== undefined);
        if (served !== type.operations.includes(operation.key))
          wrong.push(`${type.key} ${operation.key}: ${served ? "not declared" : "no address"}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("every vendor dialect belongs to a type", () => {
    for (const type of types) {
      if (
        providerOf(channelOf(type))?.dialect === undefined &&
        type.operations.includes("chat") &&
        providerOf(channelOf(type))
      ) {
        expect([type.key, isUpstreamDialect(type.dialect)]).toEqual([type.key, true]);
      }
    }
  });

  test("every fake has an existing type, with a key in its format", () => {
    for (const [key, vendor] of fakes) {
      const type = types.find((candidate) => candidate.key === key);
      expect([key, type?.key]).toEqual([key, key]);
      if (type) expect([key, keyProblem(type.id, keyOf(vendor, "https://up.example"))]).toEqual([key, undefined]);
      expect(vendor.source).toMatch(/20\d\d/);
    }
  });
});

for (const type of types) {
  if (!providerOf(channelOf(type))) continue;
  const vendor = vendorOf(type);
  if (type.operations.includes("chat")) {
    test(`${type.key} has a fake in its own wire format`, () => expect(vendor?.chat).toBeDefined());
  }
  if (!vendor) continue;
  const { chat: answer, refusal } = vendor;
  describe(`${type.key}`, () => {
    if (answer) {
      for (const [caller, { path, body, words, last }] of Object.entries(callers)) {
        test(`answers ${caller} callers, and its usage is charged`, async () => {
          const stage = play(type, vendor);
          const { status, text, json } = await send(stage, path, body(vendor.model, false));
          expect([status, text]).toEqual([200, expect.any(String)]);
          expect(
            texts(caller === "openai-responses" ? json.output : (json.choices ?? json.content), words.slice(0, 1)),
          ).toBe(answer.says);
          expect(stage.bench.doubts).toEqual([]);
          expect(stage.bench.ledger.settlements).toMatchObject([
            {
              log: {
                prompt_tokens: answer.prompt ?? aCount,
                completion_tokens: answer.completion ?? aCount,
                end_reason: "complete",
              },
            },
          ]);
        });

        test(`streams to ${caller} callers to the end, at the same price`, async () => {
          const stage = play(type, vendor);
          const { status, text } = await send(stage, path, body(vendor.model, true));
          expect([status, text]).toEqual([200, expect.stringMatching(last)]);
          const said = framesOf(text).filter(
            (frame) => caller !== "openai-responses" || /output_text\.delta"/.test(JSON.stringify(frame)),
          );
          expect(texts(said, words)).toBe(answer.says);
          expect(stage.bench.doubts).toEqual([]);
          expect(stage.bench.ledger.settlements).toMatchObject([
            {
              log: {
                prompt_tokens: answer.prompt ?? aCount,
                completion_tokens: answer.completion ?? aCount,
                end_reason: "complete",
              },
            },
          ]);
        });
      }
    }

    if (refusal) {
      test("an error is classified by the vendor's own format, plain and streamed, and nothing is charged", async () => {
        for (const stream of [false, true]) {
          const stage = play(type, vendor);
          const { status } = await send(
            stage,
            "/v1/chat/completions",
            callers["openai-chat"].body(refusal.model, stream),
          );
          expect(status).toBeGreaterThanOrEqual(400);
          const [row] = stage.bench.failures;
          const other: unknown = JSON.parse(row?.other ?? "{}");
          const tried = [{ failure: refusal.kind, message: expect.stringContaining(refusal.message) }];
          expect(other).toMatchObject({ admin_info: { attempts: tried } });
          expect(stage.bench.ledger.charged).toBe(0);
        }
      });
    }

    for (const { name, path, body, headers, check, usage } of vendor.calls ?? []) {
      test(name, async () => {
        const stage = play(type, vendor);
        check(await send(stage, path, body, headers));
        expect(stage.bench.doubts).toEqual([]);
        if (usage)
          expect(stage.bench.ledger.settlements).toMatchObject([
            { log: { prompt_tokens: usage.prompt, completion_tokens: usage.completion } },
          ]);
      });
    }
  });
}
