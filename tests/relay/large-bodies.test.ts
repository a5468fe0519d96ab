/**
 * Bodies of more than 4 MB: in a file while an upstream takes its time, complete at every upstream, deleted with the
 * call.
 */
import { heapStats } from "bun:jsc";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { channelType } from "../../src/shared/channel-types";
import { SpooledBody } from "../../src/server/lib/request-body/spooled-body";
import type { Outgoing } from "../../src/server/relay/providers/provider";
import { send } from "../../src/server/relay/providers/provider-context";
import { SPOOL_NAME } from "../../src/server/lib/request-body/spool-file";
import { type Bench, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

const MB = 1 << 20;
const PICTURE = `data:image/png;base64,${Buffer.alloc(5 * MB, "weir").toString("base64")}`;
const textPart = (text: string) => ({ type: "text", text });

const bodies: Readonly<Record<string, (text: string) => object>> = {
  "/v1/chat/completions": (text) => ({
    model: "m",
    max_tokens: 9,
    messages: [{ role: "user", content: [textPart(text), { type: "image_url", image_url: { url: PICTURE } }] }],
  }),
  "/v1/responses": (text) => ({
    model: "m",
    max_output_tokens: 9,
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text },
          { type: "input_image", image_url: PICTURE },
        ],
      },
    ],
  }),
};

const answers: Readonly<Record<string, object>> = {
  "/v1/chat/completions": {
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  "/v1/messages": {
    id: "m",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  "/v1/responses": {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status: "completed",
    model: "m",
    output: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
};

interface Got {
  path: string;
  length: number;
  declared: string | null;
  hash: string;
  body: string | undefined;
}

/** An upstream that reads everything and answers on command. */
function upstream() {
  const got: Got[] = [];
  const gate = Promise.withResolvers<void>();
  const state = { hold: false, keep: false, refuse: 0, message: "busy" };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    maxRequestBodySize: 64 * MB,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      let length = 0;
      const hasher = new Bun.CryptoHasher("sha256");
      const kept: Uint8Array[] = [];
      for await (const chunk of request.body ?? []) {
        length += chunk.length;
        hasher.update(chunk);
        if (state.keep) kept.push(chunk);
      }
      got.push({
        path: pathname,
        length,
        declared: request.headers.get("content-length"),
        hash: hasher.digest("hex"),
        body: state.keep ? Buffer.concat(kept).toString() : undefined,
      });
      if (state.hold) await gate.promise;
      if (state.refuse-- > 0)
        return Response.json({ error: { message: state.message, type: "server_error" } }, { status: 503 });
      return Response.json(answers[pathname] ?? {});
    },
  });
  return {
    got,
    state,
    url: `http://127.0.0.1:${server.port}`,
    answer: () => gate.resolve(),
    stop: () => server.stop(true),
  };
}

/** Open unnamed files of this process that hold bodies (Linux lists them). */
function openFiles(): number {
  if (!existsSync("/proc/self/fd")) return 0;
  return readdirSync("/proc/self/fd").filter((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`).includes(SPOOL_NAME);
    } catch {
      return false;
    }
  }).length;
}

/** Bytes in use after a garbage collection. */
async function inUse(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    Bun.gc(true);
    await Bun.sleep(5);
  }
  const { heapSize, extraMemorySize } = heapStats();
  return Math.max(heapSize, extraMemorySize);
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 20_000; !holds(); await Bun.sleep(5))
    if (Date.now() > deadline) throw new Error("never");
}

const hashOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

let vendor: ReturnType<typeof upstream>;
beforeEach(() => void (vendor = upstream()));
afterEach(async () => {
  vendor.stop();
  await until(() => openFiles() === 0);
});

function bench(...more: Parameters<typeof makeChannel>[2][]): Bench {
  const made = makeBench(more.map((one, index) => makeChannel(index + 1, vendor.url, { priority: -index, ...one })));
  made.options.maxBodyBytes = 64 * MB;
  made.options.retryTimes = more.length - 1;
  return made;
}

const call = (url: string, path: string, body: string, signal?: AbortSignal): Promise<Response> =>
  fetch(url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body,
    ...(signal && { signal }),
  });

describe("while an upstream takes its time", () => {
  const anthropic = channelType(14);
  const cases: readonly [string, string, Parameters<typeof makeChannel>[2]][] = [
    ["as it is", "/v1/chat/completions", {}],
    ["under another model's name", "/v1/chat/completions", { model_mapping: new Map([["m", "other"]]) }],
    ["translated", "/v1/chat/completions", anthropic && { type: anthropic }],
    ["of a call that the vendor stores", "/v1/responses", { setting: { native_calls: "always" } }],
  ];
  test.each(cases)(
    "a large body %s is not in memory",
    async (_, path, channel) => {
      const CALLS = 5;
      vendor.state.hold = true;
      const made = bench(channel);
      Object.assign(made.controlPlane, { keepContent: () => undefined });
      using weir = serve(made);
      const body = JSON.stringify(bodies[path]?.("look"));
      const before = await inUse();
      const calls = Array.from({ length: CALLS }, () => call(weir.url, path, body).then((response) => response.json()));
      await until(() => vendor.got.length === CALLS);
      await until(() => openFiles() === (existsSync("/proc/self/fd") ? CALLS : 0));
      // A single body would be more.
      expect((await inUse()) - before).toBeLessThan(body.length * 0.9);
      vendor.answer();
      expect(await Promise.all(calls)).toHaveLength(CALLS);
      expect(made.ledger.settlements).toHaveLength(CALLS);
    },
    30_000,
  );
});

test("a large body that one upstream refuses goes complete to the next, byte for byte except for the model's name", async () => {
  vendor.state.refuse = 2;
  vendor.state.keep = true;
  using weir = serve(bench({}, { model_mapping: new Map([["m", "other"]]) }, {}));
  const body = JSON.stringify(bodies["/v1/chat/completions"]?.("look"));
  expect((await call(weir.url, "/v1/chat/completions", body)).status).toBe(200);
  expect(vendor.got.map(({ hash }) => hash)).toEqual([
    hashOf(body),
    hashOf(body.replace('"model":"m"', '"model":"other"')),
    hashOf(body),
  ]);
  for (const { length, declared } of vendor.got) expect(declared).toBe(String(length));
});

test("a request that its provider sends twice, as with a new token, is complete both times", async () => {
  const changed = Buffer.alloc(5 * MB, "changed");
  const spooled = await SpooledBody.of(Buffer.alloc(5 * MB, "written"));
  const outgoing: Outgoing = {
    channel: makeChannel(1, vendor.url),
    operation: "chat",
    model: "m",
    stream: false,
    url: `${vendor.url}/v1/chat/completions`,
    headers: {},
    body: changed,
    spooled,
  };
  await send(outgoing, { fetch });
  await send({ ...outgoing, headers: { authorization: "Bearer new" } }, { fetch });
  expect(outgoing.body).toHaveLength(0);
  expect(vendor.got.map(({ hash }) => hash)).toEqual([hashOf(changed.toString()), hashOf(changed.toString())]);
  spooled.close();
});

test("the caller's own text from a large body is recognised when an upstream repeats it", async () => {
  vendor.state.refuse = 1;
  const made = bench({});
  const said: unknown[] = [];
  made.controlPlane.channelFailed = (_, trouble) =>
    void said.push(trouble.quoted?.("credit balance"), trouble.quoted?.("billing"));
  using weir = serve(made);
  expect(
    (
      await call(
        weir.url,
        "/v1/chat/completions",
        JSON.stringify(bodies["/v1/chat/completions"]?.("my Credit Balance")),
      )
    ).ok,
  ).toBe(false);
  expect(said).toEqual([true, false]);
});

test("the file of a large body is deleted when its caller has disconnected", async () => {
  vendor.state.hold = true;
  const made = bench({ setting: { on_disconnect: "cut" } });
  using weir = serve(made);
  const leaving = new AbortController();
  const left = call(
    weir.url,
    "/v1/chat/completions",
    JSON.stringify(bodies["/v1/chat/completions"]?.("look")),
    leaving.signal,
  ).catch(() => undefined);
  await until(() => vendor.got.length === 1);
  leaving.abort();
  await left;
  await until(() => openFiles() === 0 && made.relay.stats.open_calls === 0);
  expect(made.ledger.holds.size).toBe(0);
});

test("without disk space a large body stays in memory and its call continues", async () => {
  vendor.state.hold = true;
  using weir = serve(bench({}));
  const { TMPDIR } = process.env;
  process.env.TMPDIR = "/nowhere";
  try {
    const body = JSON.stringify(bodies["/v1/chat/completions"]?.("look"));
    const answer = call(weir.url, "/v1/chat/completions", body);
    await until(() => vendor.got.length === 1);
    expect(openFiles()).toBe(0);
    vendor.answer();
    expect((await answer).status).toBe(200);
    expect(vendor.got[0]?.hash).toBe(hashOf(body));
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
});
