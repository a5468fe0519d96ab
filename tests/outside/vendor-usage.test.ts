/**
 * A vendor's token counts are used as far as they are plausible: impossible counts, and zero beside content, are
 * estimated; counts far beyond plausible are charged at a bound, and mark the row and the channel. Whatever a vendor
 * reports, the ledger stays exact and root can correct a balance.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { LogRow } from "../../src/server/db/schema";
import { ENGINES } from "../kit/databases";
import { askIn, type CallerKey, channelOf, framesOf, type Piece, type VendorKey } from "../kit/fake-vendors";
import { startWeir, type Session, type Weir } from "../kit/weir";

type Json = Record<string, unknown>;
const LIMIT = 2 ** 52;
/** 4,000 bytes: a thousand tokens by estimate. */
const STORY = "sea ".repeat(1000);

/** A vendor's complete answer in its own dialect with this usage. */
function whole(vendor: VendorKey, input: unknown, output: unknown): Json {
  switch (vendor) {
    case "anthropic":
      return {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [{ type: "text", text: STORY }],
        stop_reason: "end_turn",
        usage: { input_tokens: input, output_tokens: output },
      };
    case "gemini":
      return {
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: STORY }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
      };
    default:
      return {
        id: "c1",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: STORY }, finish_reason: "stop" }],
        usage: { prompt_tokens: input, completion_tokens: output },
      };
  }
}

/** The same as a stream. */
function stream(vendor: VendorKey, input: unknown, output: unknown): string {
  const said: Piece[] = [{ text: STORY }];
  const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };
  const last: Piece[] =
    vendor === "anthropic"
      ? [
          { frame: { type: "content_block_stop", index: 0 }, event: "content_block_stop" },
          {
            frame: {
              type: "message_delta",
              delta: { stop_reason: "end_turn" },
              usage: { input_tokens: input, output_tokens: output },
            },
            event: "message_delta",
          },
          { frame: { type: "message_stop" }, event: "message_stop" },
        ]
      : vendor === "gemini"
        ? [
            {
              frame: {
                candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }],
                usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
              },
            },
          ]
        : [
            { frame: { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] } },
            { frame: { ...chunk, choices: [], usage: { prompt_tokens: input, completion_tokens: output } } },
            { frame: "[DONE]" },
          ];
  return framesOf({ vendor, pieces: [...said, ...last] }).join("");
}

/** JSON as the vendor sends it: 1e999 is valid JSON that no number type can hold. */
const wire = (value: Json | string): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).replaceAll('"1e999"', "1e999");

const VENDORS = ["chat", "anthropic", "gemini"] as const;
const CALLERS: readonly CallerKey[] = ["chat", "anthropic"];

interface Lie {
  what: string;
  input: unknown;
  output: unknown;
  /** Charged tokens: a number, or "estimate". */
  charged: { input: number | "estimate"; output: number | "estimate" };
  rules: readonly string[];
}

const lies: readonly Lie[] = [
  { what: "true", input: 50, output: 900, charged: { input: 50, output: 900 }, rules: [] },
  {
    what: "negative",
    input: 50,
    output: -900,
    charged: { input: 50, output: "estimate" },
    rules: ["output impossible"],
  },
  {
    what: "fraction",
    input: 0.5,
    output: 900,
    charged: { input: "estimate", output: 900 },
    rules: ["input impossible"],
  },
  {
    what: "endless",
    input: 50,
    output: "1e999",
    charged: { input: 50, output: "estimate" },
    rules: ["output impossible"],
  },
  {
    what: "astronomic",
    input: 1e18,
    output: 1e18,
    charged: { input: "estimate", output: "estimate" },
    rules: ["input impossible", "output impossible"],
  },
  {
    what: "just too large",
    input: 50,
    output: 2 ** 31 + 1,
    charged: { input: 50, output: "estimate" },
    rules: ["output impossible"],
  },
  {
    what: "zero",
    input: 0,
    output: 0,
    charged: { input: "estimate", output: "estimate" },
    rules: ["input zero", "output zero"],
  },
  { what: "zero out", input: 50, output: 0, charged: { input: 50, output: "estimate" }, rules: ["output zero"] },
  {
    what: "implausible out",
    input: 50,
    output: 1e9,
    charged: { input: 50, output: 200_000 },
    rules: ["output implausible"],
  },
  {
    what: "implausible in",
    input: 1e9,
    output: 900,
    charged: { input: 2_000_000, output: 900 },
    rules: ["input implausible"],
  },
  {
    what: "large and possible",
    input: 1_900_000,
    output: 190_000,
    charged: { input: 1_900_000, output: 190_000 },
    rules: [],
  },
];
const nameOf = (what: string): string => what.replaceAll(" ", "-");

for (const engine of ENGINES) {
  describe(engine, () => {
    let weir: Weir;
    let key = "";
    /** By the first part of the path: the vendor and its false count. */
    const says = new Map<string, (streamed: boolean) => Json | string>();
    const channels = new Map<string, number>();
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        const url = new URL(request.url);
        const body = (await request.json().catch(() => ({}))) as Json;
        const streamed = body.stream === true || url.pathname.includes("streamGenerateContent");
        const answer = says.get(url.pathname.split("/")[1] ?? "")?.(streamed) ?? {
          error: { message: "nothing to say" },
        };
        return new Response(wire(answer), {
          headers: { "content-type": typeof answer === "string" ? "text/event-stream" : "application/json" },
        });
      },
    });

    async function open(
      name: string,
      vendor: VendorKey,
      answer: (streamed: boolean) => Json | string,
      more: Json = {},
      type?: number,
    ): Promise<void> {
      says.set(name, answer);
      channels.set(
        name,
        await weir.newChannel({
          type: type ?? channelOf[vendor].type ?? 1,
          base_url: `http://127.0.0.1:${server.port}/${name}`,
          models: [name],
          setting: JSON.stringify(more),
        }),
      );
    }

    beforeAll(async () => {
      weir = await startWeir({ engine });
      for (const vendor of VENDORS) {
        for (const { what, input, output } of lies) {
          await open(`${vendor}-${nameOf(what)}`, vendor, (streamed) =>
            (streamed ? stream : whole)(vendor, input, output),
          );
        }
      }
      await open("trusted", "chat", () => whole("chat", 1e9, 1e9), { trust_usage: true });
      await open("trusted-zero", "chat", () => whole("chat", 0, 0), { trust_usage: true });
      await open("trusted-negative", "chat", () => whole("chat", 50, -1), { trust_usage: true });
      await open("many", "chat", () => whole("chat", 50, 450_000));
      await open("huge", "chat", () => whole("chat", 2 ** 31, 2 ** 31), { trust_usage: true });
      await open("agent", "dify", () => ({
        event: "message",
        message_id: "d1",
        conversation_id: "v1",
        answer: STORY,
        metadata: { usage: { prompt_tokens: 5_000_000, completion_tokens: 700_000 } },
      }));
      await open("vectors", "chat", () => ({
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.1] }],
        model: "m",
        usage: { prompt_tokens: -5, total_tokens: -5 },
      }));
      await open("no-vectors", "chat", () => ({
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.1] }],
        model: "m",
        usage: { prompt_tokens: 0, total_tokens: 0 },
      }));
      await open("gpt-image-1", "chat", () => ({
        created: 1,
        data: [{ b64_json: "AAAA" }],
        usage: { input_tokens: 10, output_tokens: 0, total_tokens: 10 },
      }));
      await open("whisper", "chat", () => ({
        text: "hello",
        usage: { type: "tokens", input_tokens: 2 ** 40, output_tokens: 3, total_tokens: 3 },
      }));
      await open("whisper-zero", "chat", () => ({
        text: STORY,
        usage: { type: "tokens", input_tokens: 40, output_tokens: 0, total_tokens: 40 },
      }));
      // Three seconds with any text.
      await open("whisper-seconds", "chat", () => ({ text: STORY, usage: { type: "duration", seconds: 3 } }));
      await open("ranks", "chat", () => ({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 0 } }));
      await weir.priceModels(Object.fromEntries([...says.keys()].map((model) => [model, 1])));
      ({ key } = await weir.newToken({}, await weir.newUser({ quota: 1e15 })));
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      await server.stop(true);
    });

    const rowOf = async (response: Response, model: string): Promise<LogRow> => {
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${model}: ${response.status} ${text}`);
      const id = response.headers.get("x-request-id") ?? response.headers.get("x-oneapi-request-id") ?? "";
      return weir.waitForLog((row) => row.model_name === model && (id === "" || row.request_id === id));
    };
    const doubtsOf = (row: LogRow): { side: string; rule: string; charged: number }[] =>
      (JSON.parse(row.other) as { usage_doubts?: { side: string; rule: string; charged: number }[] }).usage_doubts ??
      [];
    const infoOf = async (name: string): Promise<Json> => {
      const { channels: t } = weir.db.t;
      const [row] = await weir.db.q
        .select({ other_info: t.other_info })
        .from(t)
        .where(eq(t.id, channels.get(name) ?? 0));
      return row && row.other_info !== "" ? (JSON.parse(row.other_info) as Json) : {};
    };

    test("each false count costs what the rules say, plain and streamed, passed through and translated", async () => {
      const runs = VENDORS.flatMap((vendor) =>
        CALLERS.flatMap((caller) =>
          [true, false].flatMap((streamed) => lies.map((lie) => ({ vendor, caller, streamed, lie }))),
        ),
      );
      const wrong: string[] = [];
      await Promise.all(
        runs.map(async ({ vendor, caller, streamed, lie }) => {
          const model = `${vendor}-${nameOf(lie.what)}`;
          const row = await rowOf(await askIn(weir.url, caller, key, model, { stream: streamed, max: 1000 }), model);
          const { estimated } = JSON.parse(row.other) as { estimated?: boolean };
          const fits = (charged: number | "estimate", found: number, estimate: [number, number]): boolean =>
            charged === "estimate" ? found >= estimate[0] && found <= estimate[1] : found === charged;
          const good =
            fits(lie.charged.input, row.prompt_tokens, [10, 100]) &&
            fits(lie.charged.output, row.completion_tokens, [990, 1010]) &&
            doubtsOf(row)
              .map(({ side, rule }) => `${side} ${rule}`)
              .join() === lie.rules.join() &&
            (estimated === true) === Object.values(lie.charged).includes("estimate") &&
            row.quota === row.prompt_tokens + row.completion_tokens;
          if (!good)
            wrong.push(
              `${vendor} -> ${caller} ${streamed ? "stream" : "whole"} ${lie.what}: ${row.prompt_tokens} + ${row.completion_tokens} = ${row.quota} ${JSON.stringify(doubtsOf(row))}`,
            );
        }),
      );
      expect(wrong).toEqual([]);
    }, 60_000);

    test("a false count marks the channel, and the console's channel list shows the mark; a reseller's zero marks only the row", async () => {
      for (const name of ["chat-implausible-out", "anthropic-negative", "gemini-implausible-in"]) {
        const response = await askIn(weir.url, "chat", key, name, { stream: false });
        await rowOf(response, name);
        let info = await infoOf(name);
        for (
          const deadline = Date.now() + 5000;
          info.usage_doubt === undefined && Date.now() < deadline;
          info = await infoOf(name)
        )
          await Bun.sleep(20);
        expect(info.usage_doubt).toMatchObject({
          model: name,
          rule: name.includes("negative") ? "impossible" : "implausible",
        });
        const shown = await weir.root.ok<{ other_info: string }>("GET", `/api/channel/${channels.get(name)}`);
        expect(JSON.parse(shown.other_info)).toEqual(info);
      }
      for (const name of ["chat-zero", "chat-true", "chat-large-and-possible"]) expect(await infoOf(name)).toEqual({});
    }, 30_000);

    test("the most that a caller allowed, over all choices, moves the bound; a trusted channel has none", async () => {
      const ask = async (model: string, more: Json): Promise<LogRow> =>
        rowOf(await weir.call(key, { model, messages: [{ role: "user", content: "hi" }], ...more }), model);
      expect((await ask("many", { max_tokens: 60_000, n: 2 })).completion_tokens).toBe(450_000);
      const before = (await weir.logs()).length;
      await (
        await weir.call(key, { model: "many", messages: [{ role: "user", content: "hi" }], max_tokens: 60_000 })
      ).text();
      expect((await weir.logs()).slice(before)).toMatchObject([{ completion_tokens: 240_000 }]);
      expect(await ask("trusted", {})).toMatchObject({ prompt_tokens: 1e9, completion_tokens: 1e9 });
      expect(await ask("trusted-zero", {})).toMatchObject({ prompt_tokens: 0, completion_tokens: 0, quota: 0 });
      // Trust does not accept an impossible count.
      expect((await ask("trusted-negative", {})).completion_tokens).toBe(1000);
      expect(await infoOf("trusted")).toEqual({});
    }, 30_000);

    test("calls with hidden work at the vendor are not bounded: agents, tools of the vendor, searches, containers", async () => {
      expect(await rowOf(await askIn(weir.url, "chat", key, "agent", { stream: false }), "agent")).toMatchObject({
        prompt_tokens: 5_000_000,
        completion_tokens: 700_000,
      });
      const hidden: [CallerKey, string, Json][] = [
        ["anthropic", "anthropic-implausible-out", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
        ["anthropic", "anthropic-implausible-out", { container: "container_1" }],
        ["gemini", "gemini-implausible-out", { tools: [{ googleSearch: {} }] }],
        ["chat", "chat-implausible-out", { web_search_options: {} }],
        ["chat", "chat-implausible-out", { plugins: [{ id: "web" }] }],
      ];
      for (const [caller, model, more] of hidden) {
        const before = (await weir.logs()).length;
        const response = await askIn(weir.url, caller, key, model, { stream: false, more });
        expect([model, JSON.stringify(more), response.status]).toEqual([model, JSON.stringify(more), 200]);
        await response.text();
        expect((await weir.logs()).slice(before)).toMatchObject([{ completion_tokens: 1e9 }]);
      }
      // A tool that the caller runs hides nothing.
      const before = (await weir.logs()).length;
      await (
        await askIn(weir.url, "chat", key, "chat-implausible-out", {
          stream: false,
          more: { tools: [{ type: "function", function: { name: "f", parameters: {} } }] },
        })
      ).text();
      expect((await weir.logs()).slice(before)).toMatchObject([{ completion_tokens: 200_000 }]);
    }, 30_000);

    test("embeddings, images, transcripts and rankings are checked like chat calls", async () => {
      for (const model of ["vectors", "no-vectors"]) {
        const row = await rowOf(
          await weir.call(key, { model, input: "sea ".repeat(100) }, { path: "/v1/embeddings" }),
          model,
        );
        expect(row.prompt_tokens).toBeGreaterThan(50);
        expect(row.completion_tokens).toBe(0);
      }
      const picture = await rowOf(
        await weir.call(
          key,
          { model: "gpt-image-1", prompt: "the sea", size: "1024x1024", quality: "low" },
          { path: "/v1/images/generations" },
        ),
        "gpt-image-1",
      );
      expect(picture).toMatchObject({ prompt_tokens: 10, completion_tokens: 272 });
      const form = new FormData();
      form.set("model", "whisper");
      form.set("file", new File([wav(6)], "a.wav", { type: "audio/wav" }));
      const heard = await rowOf(
        await fetch(`${weir.url}/v1/audio/transcriptions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` },
          body: form,
        }),
        "whisper",
      );
      // Six seconds, at a thousand tokens a minute.
      expect(heard).toMatchObject({ prompt_tokens: 100, completion_tokens: 3 });
      for (const [model, charged] of [
        ["whisper-zero", { prompt_tokens: 40, completion_tokens: 1000 }],
        ["whisper-seconds", { prompt_tokens: 50, completion_tokens: 0 }],
      ] as const) {
        form.set("model", model);
        const answer = await fetch(`${weir.url}/v1/audio/transcriptions`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}` },
          body: form,
        });
        expect(await rowOf(answer, model)).toMatchObject(charged);
      }
      const ranked = await rowOf(
        await weir.call(key, { model: "ranks", query: "sea", documents: [STORY] }, { path: "/v1/rerank" }),
        "ranks",
      );
      expect(ranked.prompt_tokens).toBeGreaterThan(1000);
    }, 30_000);

    test("no charge takes a sum out of the exact integers, the ledger balances, and root can correct any balance", async () => {
      await weir.setOption(
        "ModelRatio",
        Object.fromEntries([...says.keys()].map((model) => [model, model === "huge" ? 1e9 : 1])),
      );
      const users: Session[] = await Promise.all([0, 1, 2].map(() => weir.newUser({ quota: LIMIT - 1 })));
      const set = (user: Session, quota: number) => weir.root.api("PUT", "/api/user/", { id: user.id, quota });
      for (const user of users) {
        const { key: own } = await weir.newToken({}, user);
        // As many at once as one group commit may hold.
        const answers = await Promise.all(
          Array.from({ length: 40 }, () =>
            weir.call(own, { model: "huge", messages: [{ role: "user", content: "hi" }], max_tokens: 1 }),
          ),
        );
        await Promise.all(answers.map((answer) => answer.text()));
      }
      // A balance that an older release left beyond the exact integers.
      const broken = users[0] ?? expect.unreachable("no user");
      const { users: t, credits } = weir.db.t;
      const lost = -(2 ** 53 - 1) - 4097;
      const [row] = await weir.db.q.select({ quota: t.quota, used: t.used_quota }).from(t).where(eq(t.id, broken.id));
      await weir.db.q.insert(credits).values({
        user_id: broken.id,
        amount: -(2 ** 53 - 1),
        kind: "adjust",
        idempotency_key: "lost:1",
        created_at: 0,
      });
      await weir.db.q.insert(credits).values({
        user_id: broken.id,
        amount: -4097 - (row?.quota ?? 0),
        kind: "adjust",
        idempotency_key: "lost:2",
        created_at: 0,
      });
      await weir.db.q.update(t).set({ quota: lost }).where(eq(t.id, broken.id));
      expect(await weir.audit()).toEqual([]);
      for (const user of users) {
        expect((await set(user, 1_000_000)).body).toMatchObject({ success: true });
        expect((await weir.balance(user.id)).quota).toBe(1_000_000);
      }
      for (const user of users) {
        const { used_quota } = await weir.balance(user.id);
        expect(Number.isSafeInteger(used_quota)).toBe(true);
      }
      expect((await set(broken, 2 ** 53 - 1)).body).toMatchObject({ success: false });
      expect(await weir.audit()).toEqual([]);
      expect(await weir.holds()).toBe(0);
    }, 60_000);

    test("a counter at its maximum is not charged beyond it: the last units that it can hold, and no more", async () => {
      const user = await weir.newUser({ quota: 10_000 });
      const { key: own, id } = await weir.newToken({ quota: 5000 }, user);
      const { users: t, tokens, credits } = weir.db.t;
      await weir.db.q
        .insert(credits)
        .values({ user_id: user.id, amount: LIMIT - 501, kind: "adjust", idempotency_key: "used", created_at: 0 });
      // As if nearly the maximum had been used.
      await weir.db.q
        .update(t)
        .set({ used_quota: LIMIT - 501 })
        .where(eq(t.id, user.id));
      await weir.setOption("ModelRatio", Object.fromEntries([...says.keys()].map((model) => [model, 1])));
      await weir.setOption("PreConsumedQuota", 16);
      const response = await weir.call(own, {
        model: "trusted",
        messages: [{ role: "user", content: "h" }],
        max_tokens: 1,
      });
      expect(response.status).toBe(200);
      await response.text();
      const { quota, used_quota } = await weir.balance(user.id);
      expect([quota, used_quota]).toEqual([10_000 - 500, LIMIT - 1]);
      const [token] = await weir.db.q
        .select({ remain: tokens.remain_quota, used: tokens.used_quota })
        .from(tokens)
        .where(eq(tokens.id, id));
      expect(token).toEqual({ remain: 5000 - 500, used: 500 });
      const [charged] = (await weir.logs()).filter((row) => row.user_id === user.id && row.type === 2);
      expect(charged?.quota).toBe(500);
    }, 30_000);
  });
}

/** Silence of so many seconds: 8 kHz, 8 bits. */
function wav(seconds: number): Uint8Array<ArrayBuffer> {
  const data = 8000 * seconds;
  const bytes = new Uint8Array(44 + data).fill(128);
  const view = new DataView(bytes.buffer);
  const words = (at: number, text: string): void =>
    void [...text].forEach((letter, i) => view.setUint8(at + i, letter.charCodeAt(0)));
  words(0, "RIFF");
  view.setUint32(4, 36 + data, true);
  words(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, 8000, true);
  view.setUint32(28, 8000, true);
  view.setUint16(32, 1, true);
  view.setUint16(34, 8, true);
  words(36, "data");
  view.setUint32(40, data, true);
  return bytes;
}
