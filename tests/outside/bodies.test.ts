/**
 * Malicious bodies: small on the wire and large in memory, or cheap to write and expensive to parse. Each is refused
 * before it is fully unpacked or parsed; the cost is read from the operating system.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, deflateSync } from "node:zlib";
import { type Session, startWeir, type Weir } from "../kit/weir";

const MB = 1 << 20;
/** The most that one bomb may cost the server: processor time of all its threads, and memory. */
const MOST_CPU_MS = 50;
const MOST_BYTES = 20 * MB;
const TIMES = 3;

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));
const repeated = (unit: string, size: number): string => unit.repeat(Math.floor(size / unit.length));
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

/** Plain bodies. `m` is a served model. */
const plain = {
  objects: () => bytes(`{"model":"m","messages":[${repeated("{},", 60 * MB)}{}]}`),
  "empty texts": () => bytes(`{"model":"m","messages":[${repeated('"",', 60 * MB)}""]}`),
  "a text": () => bytes(`{"model":"m","messages":[{"role":"user","content":"${"a".repeat(60 * MB)}"}]}`),
  "white space": () => bytes(`{"model":"m"${" ".repeat(60 * MB)}}`),
  names: () =>
    bytes(
      `{"model":"m","messages":{${Array.from({ length: 1_500_000 }, (_, i) => `"${i.toString(36)}":0`).join(",")}}}`,
    ),
  "a million levels": () => bytes(`{"model":"m","messages":${nested(1_000_000)}}`),
  "a deep tool": () =>
    bytes(
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}}}]}`,
    ),
} as const;
const gzip = (body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> => Bun.gzipSync(body);
const packers: Record<string, (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>> = {
  gzip,
  deflate: (body) => new Uint8Array(deflateSync(body)),
  br: (body) => new Uint8Array(brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })),
  zstd: (body) => new Uint8Array(Bun.zstdCompressSync(body)),
};

const asked: string[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 128 * MB,
  async fetch(request) {
    const path = new URL(request.url).pathname;
    asked.push(path);
    await request.arrayBuffer();
    if (path === "/v1/embeddings")
      return Response.json({
        object: "list",
        model: "m",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 5, total_tokens: 5 },
      });
    return Response.json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  },
});

let weir: Weir;
let user: Session;
let key = "";
beforeAll(async () => {
  weir = await startWeir({ child: true });
  await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["m", "sora-2"] });
  await weir.priceModels({ m: 1, "sora-2": 1 });
  user = await weir.newUser({ quota: 1_000_000_000 });
  ({ key } = await weir.newToken({}, user));
  // Warm-up: one-time costs are not measured.
  const messages = Array.from({ length: 5_000 }, (_, i) => ({ role: "user", content: `${i} ${crypto.randomUUID()}` }));
  const warm = bytes(JSON.stringify({ model: "m", messages }));
  for (let i = 0; i < 10; i++)
    await Promise.all([
      send("/v1/chat/completions", warm, byKey()),
      send("/pg/chat/completions", gzip(warm), { ...user.headers, "content-encoding": "gzip" }),
    ]);
});
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

const byKey = (): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function send(
  path: string,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; json: unknown }> {
  const response = await fetch(weir.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "new-api-user": "1", ...headers },
    body,
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, text, json };
}

/**
 * Linux's figures of the server: processor time used, and memory now and its maximum since the last call. undefined
 * elsewhere.
 */
const meter = {
  get pid(): number {
    return weir.process?.pid ?? 0;
  },
  get known(): boolean {
    return existsSync(`/proc/${this.pid}/clear_refs`);
  },
  /** Clock ticks are a hundredth of a second. */
  cpuMs(): number {
    const [, , ...fields] = readFileSync(`/proc/${this.pid}/stat`, "utf8")
      .split(") ")
      .slice(-1)
      .join("")
      .split(" ")
      .map(Number);
    return ((fields[9] ?? 0) + (fields[10] ?? 0)) * 10;
  },
  memory(name: "VmRSS" | "VmHWM"): number {
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))?.[1]) * 1024;
  },
  forgetPeak(): void {
    writeFileSync(`/proc/${this.pid}/clear_refs`, "5");
  },
};

/** Sends one bomb several times in sequence: each is refused the same way, and stays within the limits. */
async function expectCheap(what: string, once: () => Promise<unknown>, refusal: unknown): Promise<void> {
  if (!meter.known) {
    expect([what, await once()]).toEqual([what, refusal]);
    return;
  }
  const cpu: number[] = [];
  const memory: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const before = { cpu: meter.cpuMs(), memory: meter.memory("VmRSS") };
    meter.forgetPeak();
    expect([what, await once()]).toEqual([what, refusal]);
    cpu.push(meter.cpuMs() - before.cpu);
    memory.push(meter.memory("VmHWM") - before.memory);
  }
  // The median: a garbage collection or a timer of the server may hit one of them.
  const middle = (values: number[]): number => values.toSorted((x, y) => x - y)[TIMES >> 1] ?? 0;
  expect({ what, cpu: middle(cpu), little: middle(cpu) <= MOST_CPU_MS }).toEqual({
    what,
    cpu: middle(cpu),
    little: true,
  });
  expect({ what, memory: middle(memory), little: middle(memory) <= MOST_BYTES }).toEqual({
    what,
    memory: middle(memory),
    little: true,
  });
}

const codeOf = (answer: { status: number; json: unknown }): unknown => {
  const { error, code } = (answer.json ?? {}) as {
    error?: { code?: string; json?: unknown; data?: { app?: string } };
    code?: string;
  };
  return [answer.status, error?.data?.app ?? error?.code ?? code];
};

describe("a bomb costs the server next to nothing", () => {
  test("at the playground without a session: the session is checked before the body", async () => {
    const bomb = gzip(plain.objects());
    await expectCheap(
      "/pg, no session, gzip",
      async () => codeOf(await send("/pg/chat/completions", bomb, { "content-encoding": "gzip" })),
      [401, "not_signed_in"],
    );
    await expectCheap(
      "/pg, no session, plain",
      async () => codeOf(await send("/pg/chat/completions", plain["empty texts"]())),
      [401, "not_signed_in"],
    );
  });

  test("at the playground with a session", async () => {
    const bomb = gzip(plain.objects());
    await expectCheap(
      "/pg, session, gzip",
      async () => codeOf(await send("/pg/chat/completions", bomb, { ...user.headers, "content-encoding": "gzip" })),
      [400, "body_too_complex"],
    );
  });

  for (const name of ["objects", "empty texts", "names", "a million levels", "a deep tool"] as const) {
    test(`with a key: ${name}, plain and packed in each way`, async () => {
      const body = plain[name]();
      await expectCheap(`/v1, ${name}, plain`, async () => codeOf(await send("/v1/chat/completions", body, byKey())), [
        400,
        "body_too_complex",
      ]);
      for (const [encoding, pack] of Object.entries(packers)) {
        const packed = pack(body);
        await expectCheap(
          `/v1, ${name}, ${encoding}`,
          async () => codeOf(await send("/v1/chat/completions", packed, { ...byKey(), "content-encoding": encoding })),
          [400, "body_too_complex"],
        );
      }
    });
  }

  test("with a key: highly compressible texts and white space are not unpacked", async () => {
    for (const name of ["a text", "white space"] as const) {
      for (const [encoding, pack] of Object.entries(packers)) {
        const packed = pack(plain[name]());
        await expectCheap(
          `/v1, ${name}, ${encoding}`,
          async () => codeOf(await send("/v1/chat/completions", packed, { ...byKey(), "content-encoding": encoding })),
          [413, "body_unpacks_too_far"],
        );
      }
    }
  });

  test("without a key no route of the relay reads the body", async () => {
    const bomb = gzip(plain.objects());
    for (const path of [
      "/v1/chat/completions",
      "/v1/messages",
      "/v1/responses",
      "/v1beta/models/m:generateContent",
      "/v1/files",
      "/v1/batches",
      "/v1/videos",
      "/suno/submit/music",
      "/mj/submit/imagine",
      "/v1/images/edits",
      "/mj/notify",
    ]) {
      await expectCheap(path, async () => (await send(path, bomb, { "content-encoding": "gzip" })).status, 401);
    }
  });

  test("forms: in a field of JSON, and packed", async () => {
    const form = (field: string, value: string): Uint8Array<ArrayBuffer> =>
      bytes(
        `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nsora-2\r\n--b\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n--b--\r\n`,
      );
    const type = { ...byKey(), "content-type": "multipart/form-data; boundary=b" };
    const at = async (body: Uint8Array<ArrayBuffer>, encoding = "identity") =>
      codeOf(await send("/v1/videos", body, { ...type, "content-encoding": encoding }));
    await expectCheap("form, levels", () => at(form("metadata", nested(500_000))), [400, "body_too_complex"]);
    await expectCheap("form, objects", () => at(form("metadata", `[${repeated("{},", MB - 100)}{}]`)), [
      400,
      "body_too_complex",
    ]);
    const packed = gzip(form("prompt", "a".repeat(60 * MB)));
    await expectCheap("form, gzip", () => at(packed, "gzip"), [400, "invalid_request"]);
    const file = gzip(
      bytes(
        `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${"a".repeat(60 * MB)}\r\n--b--\r\n`,
      ),
    );
    await expectCheap("form, file, gzip", () => at(file, "gzip"), [413, "body_unpacks_too_far"]);
  });

  test("at tRPC without a session", async () => {
    const body = bytes(`{"username":"${"a".repeat(60 * MB)}"}`);
    await expectCheap("/trpc, plain", async () => codeOf(await send("/trpc/auth.login", body)), [
      413,
      "body_too_large",
    ]);
    await expectCheap(
      "/trpc, batch",
      async () => (await send("/trpc/auth.login,auth.register?batch=1", body)).text.match(/body_too_large/g)?.length,
      2,
    );
    for (const type of ["multipart/form-data; boundary=b", "application/octet-stream"]) {
      await expectCheap(
        `/trpc, ${type}`,
        async () => (await send("/trpc/auth.login", body, { "content-type": type })).status,
        415,
      );
    }
  });

  test("at the webhook of a payment gateway: a megabyte, and no more fields than the protocol has", async () => {
    const type = { "content-type": "application/x-www-form-urlencoded" };
    for (const [what, text] of Object.entries({
      "60 MB": "a".repeat(60 * MB),
      fields: repeated("a&", MB),
      names: Array.from({ length: 120_000 }, (_, i) => `${i.toString(36)}=1`).join("&"),
    })) {
      const body = bytes(text);
      await expectCheap(`epay, ${what}`, async () => (await send("/api/user/epay/notify", body, type)).text, "fail");
    }
    const body = bytes("a".repeat(60 * MB));
    await expectCheap("stripe", async () => (await send("/api/stripe/webhook", body)).status, 403);
  });
});

describe("a refusal is in the caller's dialect, and no upstream is called", () => {
  const shapes: [string, (json: unknown) => unknown][] = [
    ["/v1/chat/completions", (json) => (json as { error: { code: string } }).error.code],
    ["/v1/responses", (json) => (json as { error: { code: string } }).error.code],
    [
      "/v1/messages",
      (json) =>
        (json as { type: string; error: { message: string } }).type === "error" &&
        /100 levels/.test((json as { error: { message: string } }).error.message) &&
        "body_too_complex",
    ],
    [
      "/v1beta/models/m:generateContent",
      (json) => /100 levels/.test((json as { error: { message: string } }).error.message) && "body_too_complex",
    ],
  ];
  for (const [path, read] of shapes) {
    test(`${path}: a schema of 50,000 levels`, async () => {
      asked.length = 0;
      const { status, json } = await send(path, plain["a deep tool"](), { ...byKey(), "accept-language": "en" });
      expect([status, read(json)]).toEqual([400, "body_too_complex"]);
      expect(asked).toEqual([]);
    });
  }
});

describe("the body limit of a route", () => {
  /** A body of so many bytes, with and without a declared length. */
  const padded = (fields: object, size: number): Uint8Array<ArrayBuffer> => {
    const text = JSON.stringify({ ...fields, pad: "" });
    return bytes(`${text.slice(0, -2)}${"x".repeat(size - text.length)}"}`);
  };
  const undeclared = (body: Uint8Array): ReadableStream => new Blob([new Uint8Array(body)]).stream();
  const LIMIT = 64 << 10;

  test("public routes take 64 KB, for every caller and declared length", async () => {
    const paths = [
      "/api/setup",
      "/api/user/login",
      "/api/user/register",
      "/api/user/reset",
      "/trpc/auth.login",
      "/trpc/auth.register",
      "/trpc/auth.resetPassword",
      "/trpc/setup.run",
    ];
    for (const headers of [{}, user.headers]) {
      for (const path of paths) {
        const small = codeOf(
          await send(path, padded({ username: "nobody", password: "wrong-password" }, LIMIT), headers),
        );
        expect([path, small]).not.toEqual([path, [413, "body_too_large"]]);
        for (const body of [padded({}, LIMIT + 1), undeclared(padded({}, LIMIT + 1)), undeclared(padded({}, MB))]) {
          expect([path, codeOf(await send(path, body, headers))]).toEqual([path, [413, "body_too_large"]]);
        }
      }
    }
  });

  test("forms and settings of signed-in users take 4 MB, by REST and tRPC", async () => {
    // Other errors come from the procedure: it has read the body.
    const { headers } = await weir.newUser();
    for (const path of ["/api/token/", "/trpc/token.create"]) {
      for (const make of [(size: number) => padded({}, size), (size: number) => undeclared(padded({}, size))]) {
        expect([path, codeOf(await send(path, make(4 * MB), headers))]).not.toEqual([path, [413, "body_too_large"]]);
        expect([path, codeOf(await send(path, make(4 * MB + 1), headers))]).toEqual([path, [413, "body_too_large"]]);
      }
    }
  });

  test("a closed route tells an anonymous caller to sign in, whatever the body is", async () => {
    for (const path of ["/api/token/", "/trpc/token.create"]) {
      for (const body of [bytes("{}"), padded({}, 60 * MB), undeclared(padded({}, MB)), bytes(nested(100_000))]) {
        expect([path, (await send(path, body)).status]).toEqual([path, 401]);
      }
    }
  });

  test("a call for the embedding of four million token ids is accepted, plain and compressed", async () => {
    const body = bytes(
      JSON.stringify({ model: "m", input: Array.from({ length: 4_000_000 }, (_, i) => (i * 7919) % 100_000) }),
    );
    expect((await send("/v1/embeddings", body, byKey())).status).toBe(200);
    expect((await send("/v1/embeddings", gzip(body), { ...byKey(), "content-encoding": "gzip" })).status).toBe(200);
    expect((await send("/v1/embeddings", undeclared(body), byKey())).status).toBe(200);
  });

  test("a long conversation with many tools is accepted", async () => {
    const messages = Array.from({ length: 10_000 }, (_, i) => ({
      role: i % 2 === 0 ? "user" : "assistant",
      content: [{ type: "text", text: `"${"[{\\".repeat(50)} ${i}` }],
    }));
    const tools = Array.from({ length: 128 }, (_, i) => ({
      type: "function",
      function: {
        name: `f${i}`,
        description: "does it",
        parameters: {
          type: "object",
          properties: Object.fromEntries(
            Array.from({ length: 20 }, (_, j) => [
              `p${j}`,
              { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
            ]),
          ),
        },
      },
    }));
    const body = bytes(JSON.stringify({ model: "m", messages, tools }));
    expect((await send("/v1/chat/completions", body, byKey())).status).toBe(200);
    expect((await send("/v1/chat/completions", gzip(body), { ...byKey(), "content-encoding": "gzip" })).status).toBe(
      200,
    );
  });
});
