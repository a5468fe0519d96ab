/**
 * An upstream that repeats what it was sent: callers, administrators, the database and the log never see a channel's
 * secrets.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { gt } from "drizzle-orm";
import { HOOK_MS } from "../kit/harness";
import { HURRIED } from "../kit/weir-process";
import { startWeir, type Weir } from "../kit/weir";

const PASS = "s3cr3t/header+value=9";
const PROXY_WORD = "p@ss/word+of=proxy";
const MINTED = "ya29.minted-Token_of/the+account=";
const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const keys = {
  short: "Zq7/w+2=",
  dotted: "id0123456789abcdef.secret+0123/56789=",
  colons: "abc:def:ghi:jkl0",
  aws: "AKIAABCDEFGHIJKLMNOP|wJalrXUtnFEMI/K7MDENG+bPxRfiCY=|eu-west-17",
  quoted: 'pa"ss\\wo&rd<1>',
  named: "sk-proj-AbCdEf0123456789",
  uuid: "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
  appid: "bce-v3/ALTAK-0123/456789|app-01234567",
};
const SECRETS = [
  ...Object.values(keys),
  ...keys.aws.split("|"),
  ...keys.appid.split("|"),
  ...keys.dotted.split("."),
  PASS,
  PROXY_WORD,
  MINTED,
];

const base64 = (text: string): string => Buffer.from(text).toString("base64").replace(/=+$/, "");
/** The forms in which a secret may be repeated: eight and more. */
const shapes = (secret: string): string[] => [
  secret,
  `Bearer ${secret}`,
  encodeURIComponent(secret),
  encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
  base64(secret),
  base64(`someone:${secret}`),
  base64(secret).replaceAll("+", "-").replaceAll("/", "_"),
  JSON.stringify({ authorization: `Bearer ${secret}` }),
  JSON.stringify(JSON.stringify({ key: secret })),
  secret.replace(/[^A-Za-z0-9]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`),
  JSON.stringify(secret).replaceAll("/", "\\/"),
];
/** The same without the surrounding text, to search for. */
const traces = SECRETS.flatMap((secret) => {
  const json = JSON.stringify(secret).slice(1, -1);
  return [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    base64(secret).slice(0, -1),
    base64(`someone:${secret}`).slice(11, -1),
    json,
    json.replaceAll("/", "\\/"),
    JSON.stringify(json).slice(1, -1),
    secret.replace(/[^A-Za-z0-9]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`),
  ];
});
/** Secrets found in a text; [] is right. */
const leaks = (text: string): string[] =>
  traces.filter((trace) => text.includes(trace) || text.includes(JSON.stringify(trace).slice(1, -1)));

const STATUSES = [400, 404, 409, 422, 500, 502, 503] as const;

/** The received credentials, in the order of the headers. */
function credentials({ headers, url }: Request): string[] {
  const named = ["authorization", "x-api-key", "x-goog-api-key", "api-key", "appid", "x-internal-pass"].flatMap(
    (name) => headers.get(name)?.replace(/^Bearer /, "") ?? [],
  );
  const proxy = headers.get("proxy-authorization");
  const account = proxy
    ? [
        Buffer.from(proxy.replace(/^Basic /, ""), "base64")
          .toString()
          .split(":")
          .slice(1)
          .join(":"),
      ]
    : [];
  return [
    ...named,
    ...account,
    ...[...new URL(url).searchParams].filter(([name]) => name === "key").map(([, value]) => value),
  ];
}
const heard = new Set<string>();

/** Every member of an error repeats every credential in every form. */
function errorOf(request: Request) {
  const got = credentials(request);
  for (const one of got) heard.add(one);
  const pieces = got
    .flatMap((one) => [one, ...one.split("|"), ...(one.includes(".") ? one.split(".") : [])])
    .filter((piece) => piece.length >= 8);
  const said = [...new Set(pieces.flatMap(shapes))].join(" ");
  return {
    message: `rejected: ${said}`,
    type: pieces.slice(0, 2).join(" "),
    code: pieces[0],
    param: `messages.${pieces.join(" ")}`,
    status: pieces[0],
    metadata: { raw: said, [pieces[0] ?? "x"]: said },
  };
}

const data = (value: unknown, event?: string): string =>
  `${event ? `event: ${event}\n` : ""}data: ${JSON.stringify(value)}\n\n`;
const delta = (content: string) =>
  data({
    id: "c",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
  });

/** The start of an answer in the dialect of the path. */
function begun(path: string): string {
  if (path.includes("/messages")) {
    return (
      data(
        {
          type: "message_start",
          message: {
            id: "m",
            type: "message",
            role: "assistant",
            model: "m",
            content: [],
            stop_reason: null,
            usage: { input_tokens: 1, output_tokens: 1 },
          },
        },
        "message_start",
      ) +
      data(
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        "content_block_start",
      ) +
      data(
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } },
        "content_block_delta",
      )
    );
  }
  if (path.includes("/v1beta/") || path.includes("GenerateContent"))
    return data({ candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, index: 0 }] });
  if (path.endsWith("/responses")) {
    const response = { id: "resp_1", object: "response", status: "in_progress", model: "m", output: [] };
    return (
      data({ type: "response.created", response }, "response.created") +
      data(
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { type: "message", id: "msg_1", role: "assistant", content: [], status: "in_progress" },
        },
        "response.output_item.added",
      ) +
      data(
        { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "hello" },
        "response.output_text.delta",
      )
    );
  }
  return delta("hello");
}
function failed(path: string, error: object): string {
  if (path.endsWith("/responses"))
    return data(
      { type: "response.failed", response: { id: "resp_1", object: "response", status: "failed", error, output: [] } },
      "response.failed",
    );
  return data({ type: "error", error }, path.includes("/messages") ? "error" : undefined);
}

const streamed = (text: string, cut = 0): Response => {
  const bytes = Buffer.from(text);
  const parts =
    cut === 0
      ? [bytes]
      : Array.from({ length: Math.ceil(bytes.length / cut) }, (_, i) => bytes.subarray(i * cut, (i + 1) * cut));
  return new Response(
    new ReadableStream({
      async pull(controller) {
        const part = parts.shift();
        if (!part) return controller.close();
        controller.enqueue(part);
        await new Promise((resolve) => setImmediate(resolve));
      },
    }),
    { headers: { "content-type": "text/event-stream" } },
  );
};

const jobs = new Map<string, number>();
/** Behaves as the model's name says: `<channel>-<behaviour>-<caller>`. */
async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/token"))
    return Response.json({ access_token: MINTED, expires_in: 3600, token_type: "Bearer" });
  const error = errorOf(request);
  const given = request.headers.get("x-internal-pass") ?? credentials(request)[0] ?? "";
  const headers = { "x-request-id": given, "x-echo": given, "retry-after": given, "openai-organization": given };
  if (pathname.startsWith("/v1/videos/"))
    return Response.json({
      id: pathname.split("/").at(-1),
      object: "video",
      status: "failed",
      model: "m",
      seconds: "4",
      size: "720x1280",
      error,
    });
  const text = request.method === "POST" ? await request.text() : "";
  const asked = `${pathname} ${text}`;
  const behaviour = /"?-(\d{3}|in200|frame|late|choice|plain|item|dots|harmless|videojob)-/.exec(asked)?.[1] ?? "400";
  if (behaviour === "videojob") {
    jobs.set("video_1", 0);
    return Response.json({
      id: "video_1",
      object: "video",
      status: "queued",
      model: "m",
      seconds: "4",
      size: "720x1280",
      progress: 0,
    });
  }
  const whole = {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: CONTENT }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    error: null,
  };
  if (behaviour === "plain") return Response.json(whole, { headers });
  if (behaviour === "item")
    return Response.json(
      {
        error: {
          message: ITEM,
          type: "invalid_request_error",
          code: "invalid_value",
          param: "input[2].content.0.image_url",
        },
      },
      { status: 400 },
    );
  if (behaviour === "dots" || behaviour === "harmless")
    return Response.json(
      { error: { message: (behaviour === "dots" ? "a." : "a ").repeat(2000), type: "x", code: "y" } },
      { status: 400 },
    );
  if (behaviour === "in200") return Response.json({ type: "error", error }, { headers });
  if (behaviour === "frame") return streamed(failed(pathname, error));
  if (behaviour === "late")
    return streamed(begun(pathname) + failed(pathname, error), pathname.includes("images") ? 7 : 0);
  if (behaviour === "choice") {
    const choice = { index: 0, finish_reason: "error", error };
    if (!/"stream":\s*true/.test(text))
      return Response.json({ ...whole, choices: [{ ...choice, message: { role: "assistant", content: "hello" } }] });
    return streamed(
      delta("hello") + data({ id: "c", choices: [{ ...choice, delta: { content: "" } }] }) + "data: [DONE]\n\n",
    );
  }
  return Response.json({ type: "error", error }, { status: Number(behaviour), headers });
}
const CONTENT = 'Use sk-test-AbCdEf0123456789 at api.example.com, 10.1.2.3; "error" is a word.';
const ITEM =
  "Item 'rs_0123456789abcdef0123456789abcdef0123456789abcdef' of type 'reasoning' was provided without its required following item; see toolConfig.includeServerSideToolInvocations.";

const upstream = Bun.serve<{ error: object; key: string }>({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request, server) {
    if (request.headers.get("upgrade") === "websocket") {
      const key = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
      return server.upgrade(request, { data: { error: errorOf(request), key } })
        ? undefined
        : new Response(null, { status: 400 });
    }
    return answer(request);
  },
  websocket: {
    open: (socket) => void socket.send(JSON.stringify({ type: "session.created", session: { id: "s" } })),
    message(socket) {
      const { error, key } = socket.data;
      socket.send(JSON.stringify({ type: "error", event_id: "e1", error }));
      socket.send(
        JSON.stringify({ type: "conversation.item.input_audio_transcription.failed", event_id: "e2", error }),
      );
      socket.send(
        JSON.stringify({
          type: "response.done",
          response: { id: "r1", status: "failed", status_details: { type: "failed", error }, output: [] },
        }),
      );
      socket.close(4001, `bye ${key}`);
    },
  },
});
const BASE = `http://127.0.0.1:${upstream.port}`;

const CALLERS = ["chat", "messages", "responses", "gemini"] as const;
type CallerName = (typeof CALLERS)[number];
const BEHAVIOURS = [...STATUSES.map(String), "in200", "frame", "late"];

let weir: Weir;
let key: string;
const ids: Record<string, number> = {};
beforeAll(async () => {
  weir = await startWeir({ child: HURRIED, env: { WEIR_LOG_LEVEL: "debug" } });
  await weir.setOption("SelfUseModeEnabled", "true");
  ({ key } = await weir.newToken());
  const models = (name: string) =>
    [...BEHAVIOURS, "choice", "plain", "item", "dots", "harmless", "401"].flatMap((how) =>
      [...CALLERS, "images", "speech", "embeddings", "again"].map((who) => `${name}-${how}-${who}`),
    );
  const channel = async (name: string, fields: Record<string, unknown>) => {
    ids[name] = await weir.newChannel({ name, base_url: BASE, models: models(name), ...fields });
  };
  const header_override = JSON.stringify({ "x-internal-pass": PASS });
  await channel("short", { key: keys.short });
  await channel("dotted", { key: keys.dotted, type: 26, header_override });
  await channel("native", { key: keys.colons, setting: '{"native_calls":"always"}' });
  await channel("aws", { key: keys.aws });
  await channel("quoted", { key: keys.quoted });
  await channel("claude", { key: keys.named, type: 14 });
  await channel("google", { key: keys.uuid, type: 24 });
  await channel("qianfan", { key: keys.appid, type: 46 });
  await channel("proxied", {
    key: keys.named,
    base_url: "http://upstream.example",
    setting: JSON.stringify({ proxy: `http://someone:${encodeURIComponent(PROXY_WORD)}@127.0.0.1:${upstream.port}` }),
  });
  const account = {
    type: "service_account",
    project_id: "project-0123",
    client_email: "robot-0123@project.iam.gserviceaccount.com",
    private_key: privateKey,
    token_uri: `${BASE}/token`,
  };
  await channel("vertex", {
    key: JSON.stringify(account),
    type: 41,
    other: "us-central1",
    models: models("vertex").map((name) => `gemini-${name}`),
  });
  await channel("voice", { key: keys.colons, models: ["voice-late-live"] });
  await channel("film", { key: keys.named, type: 55, models: ["film-400-now", "film-videojob-later"] });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

async function call(
  who: CallerName,
  model: string,
  stream: boolean,
): Promise<{ status: number; text: string; headers: string }> {
  const say = { role: "user", content: "hi" };
  const [path, body] =
    who === "chat"
      ? ["/v1/chat/completions", { model, stream, messages: [say] }]
      : who === "messages"
        ? ["/v1/messages", { model, stream, max_tokens: 9, messages: [say] }]
        : who === "responses"
          ? ["/v1/responses", { model, stream, input: "hi" }]
          : [
              `/v1beta/models/${model}:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
              { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
            ];
  const response = await weir.call(key, body, { path });
  return { status: response.status, text: await response.text(), headers: JSON.stringify([...response.headers]) };
}

test("no status, member, header, stream or caller's language carries a secret of the channel, in whatever form it is repeated", async () => {
  const channels = ["short", "dotted", "native", "aws", "quoted", "claude", "google", "qianfan", "proxied"];
  const tries = channels.flatMap((name) => BEHAVIOURS.flatMap((how) => CALLERS.map((who) => ({ name, how, who }))));
  const wrong: unknown[] = [];
  let quoted = 0;
  for (let i = 0; i < tries.length; i += 20) {
    await Promise.all(
      tries.slice(i, i + 20).map(async ({ name, how, who }) => {
        const { text, headers } = await call(who, `${name}-${how}-${who}`, how === "frame" || how === "late");
        const found = leaks(text + headers);
        if (found.length > 0) wrong.push([name, how, who, found.slice(0, 3), text.slice(0, 300)]);
        if (text.includes("rejected:")) quoted++;
      }),
    );
  }
  expect(wrong).toEqual([]);
  // The rest of the message is kept, or this would prove nothing.
  expect(quoted).toBeGreaterThan(tries.length / 2);
  for (const secret of [keys.short, keys.dotted, keys.aws, PASS, PROXY_WORD, keys.appid.split("|")[1] ?? ""])
    expect([...heard]).toContain(secret);
}, 60_000);

test("a token that was issued for the channel is its secret too", async () => {
  for (const how of ["400", "500", "in200", "late"]) {
    const { text } = await call("gemini", `gemini-vertex-${how}-gemini`, how === "late");
    expect([how, leaks(text)]).toEqual([how, []]);
  }
  expect([...heard]).toContain(MINTED);
});

test("an error inside a choice of an answer contains no secret either", async () => {
  for (const stream of [false, true])
    for (const name of ["short", "aws"]) {
      const { text } = await call("chat", `${name}-choice-${stream ? "again" : "chat"}`, stream);
      expect([stream, leaks(text)]).toEqual([stream, []]);
      expect(text).toContain("hello");
    }
});

test("images, speech and embeddings: refused, or broken inside an event that is split anywhere", async () => {
  const errands = [
    ["/v1/images/generations", { model: "aws-400-images", prompt: "x" }],
    ["/v1/images/generations", { model: "aws-late-images", prompt: "x", stream: true }],
    ["/v1/images/generations", { model: "aws-in200-images", prompt: "x" }],
    ["/v1/audio/speech", { model: "aws-500-speech", input: "x", voice: "alloy" }],
    ["/v1/embeddings", { model: "aws-422-embeddings", input: "x" }],
  ] as const;
  for (const [path, body] of errands) {
    const response = await weir.call(key, body, { path });
    const text = await response.text();
    expect([body.model, text.includes("rejected"), leaks(text)]).toEqual([body.model, true, []]);
  }
});

test("a realtime session's errors and its end", async () => {
  const heardHere: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = new WebSocket(`${weir.url.replace("http", "ws")}/v1/realtime?model=voice-late-live`, {
    headers: { authorization: `Bearer ${key}` },
  } as never);
  socket.onmessage = ({ data: event }) => {
    heardHere.push(String(event));
    if (heardHere.length === 1) socket.send(JSON.stringify({ type: "response.create" }));
  };
  socket.onclose = ({ reason }) => resolve(reason);
  const reason = await promise;
  expect(heardHere.filter((event) => event.includes("rejected:"))).toHaveLength(3);
  expect(leaks(heardHere.join() + reason)).toEqual([]);
  expect(reason).toContain("bye");
});

test("a job that is refused, and one that fails later", async () => {
  const refused = await (await weir.call(key, { model: "film-400-now", prompt: "x" }, { path: "/v1/videos" })).text();
  expect([refused.includes("rejected"), leaks(refused)]).toEqual([true, []]);
  const { id } = (await (
    await weir.call(key, { model: "film-videojob-later", prompt: "x", seconds: "4" }, { path: "/v1/videos" })
  ).json()) as { id: string };
  // It would be polled after some seconds.
  await weir.db.q.update(weir.db.t.tasks).set({ next_poll_at_ms: 1 }).where(gt(weir.db.t.tasks.next_poll_at_ms, 0));
  let shown = "";
  for (const end = Date.now() + 20_000; !shown.includes("failed") && Date.now() < end; await Bun.sleep(50)) {
    shown = await (await fetch(`${weir.url}/v1/videos/${id}`, { headers: { authorization: `Bearer ${key}` } })).text();
  }
  expect([shown.includes("rejected"), leaks(shown)]).toEqual([true, []]);
}, 30_000);

test("administrators read no key either: tests, model lists, balances, and why a channel was disabled", async () => {
  const admin = await weir.newUser({ role: 10 });
  for (const [name, model] of [
    ["short", "short-400-again"],
    ["dotted", "dotted-500-again"],
    ["proxied", "proxied-in200-again"],
    ["claude", "claude-422-again"],
  ] as const) {
    const answers = [
      await admin.api("GET", `/api/channel/test/${ids[name]}?model=${model}`),
      await admin.api("GET", `/api/channel/fetch_models/${ids[name]}`),
      await admin.api("GET", `/api/channel/update_balance/${ids[name]}`),
    ];
    expect([
      name,
      answers[0]?.body.message?.includes("rejected"),
      leaks(JSON.stringify(answers.map(({ body }) => body))),
    ]).toEqual([name, true, []]);
  }
  const typed = await admin.api("POST", "/api/channel/fetch_models", { type: 1, key: keys.aws, base_url: BASE });
  expect(leaks(JSON.stringify(typed.body))).toEqual([]);

  await weir.setOption("AutomaticDisableChannelEnabled", "true");
  await call("chat", "dotted-401-chat", false);
  let info = "";
  for (const end = Date.now() + 10_000; info === "" && Date.now() < end; await Bun.sleep(20))
    ({ other_info: info } = await admin.ok<{ other_info: string }>("GET", `/api/channel/${ids.dotted}`));
  expect([info.includes("rejected"), leaks(info)]).toEqual([true, []]);
}, 30_000);

test("database and log contain no secret either", async () => {
  const db = new Database(join(weir.dataDir, "weir.db"), { readonly: true });
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name);
  for (const table of tables) {
    // An operator's own text is in the channel's row.
    const columns = table === "channels" ? "name, other_info, models" : "*";
    const text = db
      .query(`SELECT ${columns} FROM "${table}"`)
      .all()
      .map((row) => JSON.stringify(row))
      .join("\n");
    expect([table, leaks(text)]).toEqual([table, []]);
  }
  const rows = db.query<{ n: number }, []>("SELECT count(*) n FROM logs WHERE other LIKE '%rejected%'").get()?.n;
  expect(rows).toBeGreaterThan(100);
  db.close();
  expect(leaks(weir.process?.output() ?? "")).toEqual([]);
});

test("answers are not changed, and item ids and field names stay in errors", async () => {
  const { text } = await call("chat", "short-plain-chat", false);
  expect((JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content).toBe(
    CONTENT,
  );
  for (const who of CALLERS) {
    const said = (await call(who, `short-item-${who}`, false)).text;
    expect([who, JSON.stringify(JSON.parse(said)).includes(ITEM)]).toEqual([who, true]);
  }
  expect((await call("chat", "native-item-chat", false)).text).toContain("input[2].content.0.image_url");
});

test("4,000 dotted letters take about as long as harmless text", async () => {
  const time = async (how: string): Promise<number> => {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const started = performance.now();
      await Promise.all(Array.from({ length: 10 }, () => call("chat", `short-${how}-chat`, false)));
      times.push(performance.now() - started);
    }
    return Math.min(...times);
  };
  const [harmless, dots] = [await time("harmless"), await time("dots")];
  expect(dots).toBeLessThan(harmless * 3 + 30);
});
