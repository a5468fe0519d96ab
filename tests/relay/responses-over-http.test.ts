/**
 * The Responses API through a real Weir: what passes through, what is stored, what is refused. The caller is OpenAI's
 * SDK.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { eq } from "drizzle-orm";
import { LOG_TYPE } from "../../src/shared/log";
import { pack } from "../../src/server/features/stored/stored-objects";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const WORDS = "hello there my friend";
/** Served natively by one channel, by two, and by a channel that only chats. */
const NATIVE = "usage:10:20+slow:1";
const BURST = "usage:10:20+burst:3";
const TWICE = "usage:11:20";
/** Of a channel with several keys. */
const KEYS = "usage:15:20";
const CHAT = "usage:12:20";
/** Its last frame repeats 1.5 MB. */
const BIG = "usage:10:20+big-frame:1500";
const CHAT_BURST = "usage:12:20+burst:3";
/** Of a vendor whose Responses API stores nothing. */
const LOOSE = "usage:14:20";
const CLAUDE = "usage:13:20+reasoning";
const failing = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

for (const engine of ENGINES) {
  describe(engine, () => {
    const upstream = startFakeUpstream();
    const { journal } = upstream;
    let weir: Weir;
    let key = "";
    let openai: OpenAI;
    let stranger: OpenAI;
    const client = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${weir.url}/v1`, maxRetries: 0 });
    const posts = (): string[] => journal.entries.filter(({ method }) => method === "POST").map(({ path }) => path);

    beforeAll(async () => {
      weir = await startWeir({ engine });
      const channel = (type: number, models: string[], more = {}): Promise<number> =>
        weir.newChannel({ type, base_url: upstream.url, models, setting: '{"native_calls":"always"}', ...more });
      const broken = [BIG, `${NATIVE}+error-midstream`, `${NATIVE}+cut-midstream`, `${NATIVE}+finish-length`];
      await channel(1, [NATIVE, BURST, ...broken]);
      await channel(1, [TWICE], { key: "good-first" });
      await channel(48, [TWICE], { key: "good-second" });
      await channel(1, [CHAT, CHAT_BURST], { setting: '{"native_calls":"auto"}' });
      await channel(20, [LOOSE]);
      await channel(14, [CLAUDE]);
      await weir.priceModels(
        Object.fromEntries(
          [NATIVE, BURST, TWICE, CHAT, CHAT_BURST, LOOSE, CLAUDE, KEYS, ...broken].map((model) => [model, 1]),
        ),
      );
      ({ key } = await weir.newToken());
      openai = client(key);
      const user = await weir.newUser({ quota: 1_000_000 });
      stranger = client((await weir.newToken({}, user)).key);
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      upstream.close();
    });

    describe("a channel that serves the Responses API", () => {
      test("is called with the caller's own body, and its frames reach the caller unchanged and in order", async () => {
        for (const model of [NATIVE, BURST]) {
          journal.clear();
          const body = { model, input: WORDS, stream: true, metadata: { mine: "yes" }, truncation: "auto" };
          const seen = await (await weir.call(key, body, { path: "/v1/responses" })).text();
          expect(journal.last()).toMatchObject({ path: "/v1/responses" });
          expect(JSON.parse(journal.last().body)).toEqual(body);
          const direct = await (
            await fetch(`${upstream.url}/v1/responses`, {
              method: "POST",
              headers: { authorization: "Bearer good-key" },
              body: JSON.stringify(body),
            })
          ).text();
          const types = (text: string): unknown[] =>
            text
              .split("\n")
              .filter((line) => line.startsWith("data: "))
              .map((line) => JSON.parse(line.slice(6)) as { type: string; sequence_number: number })
              .map(({ type, sequence_number }) => [sequence_number, type]);
          expect(types(seen)).toEqual(types(direct));
          expect(types(seen).at(-1)).toMatchObject([expect.any(Number), "response.completed"]);
        }
        const row = await weir.waitForLog(({ model_name }) => model_name === BURST);
        expect(row).toMatchObject({ quota: 13, prompt_tokens: 10, completion_tokens: 3, end_reason: "complete" });
      });

      test("a stream that fails ends with one response.failed of the same response, whose sequence numbers continue", async () => {
        for (const how of ["error-midstream", "cut-midstream"]) {
          const text = await (
            await weir.call(key, { model: `${NATIVE}+${how}`, input: WORDS, stream: true }, { path: "/v1/responses" })
          ).text();
          const events = text
            .split("\n")
            .filter((line) => line.startsWith("data: "))
            .map(
              (line) =>
                JSON.parse(line.slice(6)) as { type: string; sequence_number: number; response?: { id: string } },
            );
          expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
          expect(events.filter(({ type }) => type === "response.created")).toHaveLength(1);
          expect(events.at(-1)).toMatchObject({
            type: "response.failed",
            response: { id: events[0]?.response?.id ?? "", status: "failed" },
          });
        }
      });

      test("an answer that is repeated in a frame of more than a megabyte arrives complete", async () => {
        const answer = await openai.responses.stream({ model: BIG, input: WORDS }).finalResponse();
        expect(answer).toMatchObject({ status: "completed", usage: { output_tokens: 20 } });
        expect(answer.output_text).toHaveLength(1500 * 1024);
      });

      test("an answer that was cut off by its limit ends with response.incomplete", async () => {
        const answer = await openai.responses
          .stream({ model: `${NATIVE}+finish-length`, input: WORDS })
          .finalResponse();
        expect(answer).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
      });

      test("stores the answer itself: the next turn goes there, whatever the selector would choose", async () => {
        for (let round = 0; round < 3; round++) {
          journal.clear();
          const first = await openai.responses.create({ model: TWICE, input: WORDS });
          const home = journal.last().key;
          let previous = first.id;
          for (let turn = 0; turn < 4; turn++) {
            const next = await openai.responses.create({
              model: TWICE,
              input: `turn ${turn}`,
              previous_response_id: previous,
            });
            expect(next).toMatchObject({ output_text: `turn ${turn}`, previous_response_id: previous });
            expect(journal.last()).toMatchObject({ key: home });
            expect(JSON.parse(journal.last().body)).toMatchObject({
              previous_response_id: previous,
              input: `turn ${turn}`,
            });
            previous = next.id;
          }
        }
      });

      test("with several keys: a conversation stays with the key that stores it, and is unknown when that key is disabled", async () => {
        const several = await weir.newChannel({
          type: 1,
          base_url: upstream.url,
          models: [KEYS],
          setting: '{"native_calls":"always"}',
          key: "good-a\ngood-b\ngood-c",
          multi_key_mode: "polling",
        });
        const first = await openai.responses.create({ model: KEYS, input: WORDS });
        const home = journal.last().key ?? "";
        for (let turn = 0; turn < 4; turn++) {
          await openai.responses.create({ model: KEYS, input: "on", previous_response_id: first.id });
          expect(journal.last()).toMatchObject({ key: home });
          await openai.responses.create({ model: KEYS, input: "other" });
        }
        await openai.responses.retrieve(first.id);
        expect(journal.last()).toMatchObject({ method: "GET", key: home });
        const items = await weir.root.ok<{ id: number }[]>("GET", `/api/channel/${several}/keys`);
        const held = items[["good-a", "good-b", "good-c"].indexOf(home)]?.id;
        await weir.root.ok("PUT", `/api/channel/${several}/keys`, { key_ids: [held], status: 2 });
        const before = journal.entries.length;
        expect(
          await failing(openai.responses.create({ model: KEYS, input: "on", previous_response_id: first.id })),
        ).toMatchObject({ status: 404, code: "previous_response_not_found" });
        expect(await failing(openai.responses.retrieve(first.id))).toMatchObject({
          status: 404,
          code: "response_not_found",
        });
        expect(journal.entries.length).toBe(before);
        // Other calls are served.
        expect(await openai.responses.create({ model: KEYS, input: WORDS })).toMatchObject({ output_text: WORDS });
      });

      test("retrieves it, lists its input, and deletes it", async () => {
        const { id } = await openai.responses.create({ model: NATIVE, input: [{ role: "user", content: WORDS }] });
        expect(await openai.responses.retrieve(id, { include: ["reasoning.encrypted_content"] })).toMatchObject({
          id,
          output_text: WORDS,
        });
        expect(journal.last()).toMatchObject({ method: "GET", path: `/v1/responses/${id}`, key: "good-key" });
        expect(Object.values(journal.last().query)).toContain("reasoning.encrypted_content");
        expect((await openai.responses.inputItems.list(id)).data).toMatchObject([{ role: "user", content: WORDS }]);
        const events: string[] = [];
        for await (const { type } of await openai.responses.retrieve(id, { stream: true, starting_after: 3 }))
          events.push(type);
        expect(events).toEqual(["response.completed"]);
        expect(journal.last().query).toMatchObject({ stream: "true", starting_after: "3" });
        expect(await failing(openai.responses.cancel(id))).toMatchObject({ status: 400 });
        for (const call of [
          () => stranger.responses.retrieve(id),
          () => stranger.responses.delete(id),
          () => stranger.responses.cancel(id),
          () => stranger.responses.inputItems.list(id),
        ]) {
          expect(await failing(call())).toMatchObject({ status: 404, code: "response_not_found" });
        }
        await openai.responses.delete(id);
        expect(await failing(openai.responses.retrieve(id))).toMatchObject({ status: 404, code: "response_not_found" });
      });

      test("compacts and counts", async () => {
        const compacted = await openai.responses.compact({ model: NATIVE, input: [{ role: "user", content: WORDS }] });
        expect(compacted).toMatchObject({
          object: "response.compaction",
          output: [{ role: "user" }, { type: "compaction" }],
        });
        expect(await weir.waitForLog(({ other }) => other.includes("/v1/responses/compact"))).toMatchObject({
          quota: 30,
          type: LOG_TYPE.consume,
        });
        expect(await openai.responses.inputTokens.count({ model: NATIVE, input: WORDS })).toEqual({
          object: "response.input_tokens",
          input_tokens: 10,
        });
      });
    });

    for (const [name, model] of [
      ["chats", CHAT],
      ["speaks another dialect", CLAUDE],
    ] as const) {
      describe(`a channel that only ${name}`, () => {
        test("is sent all earlier turns, three turns deep, streamed and plain", async () => {
          const first = await openai.responses.create({ model, input: WORDS, instructions: "be brief" });
          expect(first.output_text).toBe(WORDS);
          const second = await openai.responses
            .stream({ model, input: [{ role: "user", content: "second" }], previous_response_id: first.id })
            .finalResponse();
          expect(second).toMatchObject({ output_text: "second", previous_response_id: first.id });
          const third = await openai.responses.create({ model, input: "third", previous_response_id: second.id });
          expect(third.output_text).toBe("third");
          const sent = JSON.parse(journal.last().body) as { messages: { role: string; content: unknown }[] };
          const said = sent.messages
            .filter(({ role }) => role === "user" || role === "assistant")
            .map(({ role, content }) => [
              role,
              JSON.stringify(content).match(/hello there my friend|second|third/)?.[0],
            ]);
          expect(said).toEqual([
            ["user", WORDS],
            ["assistant", WORDS],
            ["user", "second"],
            ["assistant", "second"],
            ["user", "third"],
          ]);
          // Instructions apply to one call (the vendor's rule).
          expect(journal.last().body).not.toContain("be brief");
        });

        test("a call that continues an answer may leave the model to it", async () => {
          const first = await openai.responses.create({ model, input: WORDS });
          const second = await openai.responses.create({ input: "second", previous_response_id: first.id });
          expect(second).toMatchObject({ output_text: "second", previous_response_id: first.id });
          const row = await weir.waitForLog(
            (one) => second.id === `resp_${one.request_id}` || one.model_name === model,
          );
          expect(row.model_name).toBe(model);
          expect(await failing(openai.responses.create({ input: "hi" }))).toMatchObject({
            status: 400,
            code: "model_missing",
          });
        });

        test("its answers can be read, listed and deleted, only by their owner", async () => {
          const first = await openai.responses.create({ model, input: WORDS });
          const second = await openai.responses.create({ model, input: "second", previous_response_id: first.id });
          expect(await openai.responses.retrieve(second.id)).toMatchObject({
            id: second.id,
            status: "completed",
            output_text: "second",
          });
          const items = await openai.responses.inputItems.list(second.id, { order: "asc", limit: 2 });
          expect(items.data).toMatchObject([
            { type: "message", role: "user", content: [{ type: "input_text", text: WORDS }] },
            {},
          ]);
          expect(items.has_more).toBe(true);
          const all: unknown[] = [];
          for await (const item of openai.responses.inputItems.list(second.id, { order: "asc", limit: 1 }))
            all.push(item);
          expect(all.at(-1)).toMatchObject({ role: "user", content: [{ text: "second" }] });
          expect((await openai.responses.inputItems.list(second.id)).data[0]).toEqual(all.at(-1) as never);
          expect(await failing(openai.responses.inputItems.list(second.id, { limit: 101 }))).toMatchObject({
            status: 400,
          });
          expect(await failing(openai.responses.inputItems.list(second.id, { after: "msg_none" }))).toMatchObject({
            status: 400,
          });
          expect(await failing(openai.responses.cancel(second.id))).toMatchObject({
            status: 400,
            code: "response_not_cancellable",
          });
          const again = await weir.call(key, undefined, {
            method: "GET",
            body: null,
            path: `/v1/responses/${second.id}?stream=true&starting_after=1`,
          });
          expect(await again.json()).toMatchObject({ error: { code: "response_not_streamable" } });
          for (const call of [
            () => stranger.responses.retrieve(second.id),
            () => stranger.responses.delete(second.id),
            () => stranger.responses.inputItems.list(second.id),
          ]) {
            expect(await failing(call())).toMatchObject({ status: 404, code: "response_not_found" });
          }
          await openai.responses.delete(second.id);
          expect(await failing(openai.responses.retrieve(second.id))).toMatchObject({ status: 404 });
          expect(
            await failing(openai.responses.create({ model, input: "third", previous_response_id: second.id })),
          ).toMatchObject({ status: 404, code: "previous_response_not_found", param: "previous_response_id" });
        });
      });
    }

    test("a vendor that serves the Responses API and stores nothing is sent everything again, in the same dialect", async () => {
      const first = await openai.responses.create({ model: LOOSE, input: WORDS });
      const second = await openai.responses.create({ model: LOOSE, input: "second", previous_response_id: first.id });
      const sent = JSON.parse(journal.last().body) as { previous_response_id: unknown; input: unknown };
      // The caller reads what it continues, though the vendor knows of nothing.
      expect(second.previous_response_id).toBe(first.id);
      const streamed = await openai.responses
        .stream({ model: LOOSE, input: "third", previous_response_id: second.id })
        .finalResponse();
      expect([streamed.output_text, streamed.previous_response_id]).toEqual(["third", second.id]);
      expect(journal.last().path).toBe("/v1/responses");
      expect(sent.previous_response_id).toBeNull();
      expect(sent.input).toMatchObject([
        { role: "user" },
        { role: "assistant", status: "completed", content: [{ text: WORDS }] },
        { role: "user", content: [{ text: "second" }] },
      ]);
      journal.clear();
      expect(await openai.responses.retrieve(second.id)).toMatchObject({ output_text: "second" });
      expect(journal.entries).toHaveLength(0);
    });

    test("a call that continues a vendor's stored answer has a hold for the whole conversation, which is not sent again", async () => {
      const user = await weir.newUser({ quota: 20_000 });
      const poor = client((await weir.newToken({}, user)).key);
      const first = await poor.responses.create({ model: NATIVE, input: WORDS, max_output_tokens: 30 });
      const { stored_objects } = weir.db.t;
      const next = () =>
        poor.responses.create({ model: NATIVE, input: "next", previous_response_id: first.id, max_output_tokens: 30 });
      expect((await next()).output_text).toBe("next");
      await weir.db.q
        .update(stored_objects)
        .set({ data: await pack({ tokens: 1_000_000 }) })
        .where(eq(stored_objects.object_id, first.id));
      expect(await failing(next())).toMatchObject({ status: 429, code: "insufficient_quota" });
    });

    test("an item of a stored answer can be referenced instead of sent, by its owner; a reference to a vendor's item goes to that vendor", async () => {
      const first = await openai.responses.create({ model: CHAT, input: WORDS });
      const item = { type: "item_reference" as const, id: first.output[0]?.id ?? "" };
      const next = (caller: OpenAI, model: string): Promise<unknown> =>
        failing(
          caller.responses.create({
            model,
            input: [{ role: "user", content: WORDS }, item, { role: "user", content: "next" }],
            store: false,
          }),
        );
      expect(await next(openai, CHAT)).toBeUndefined();
      expect(JSON.parse(journal.last().body)).toMatchObject({
        messages: [{ role: "user" }, { role: "assistant", content: WORDS }, { role: "user", content: "next" }],
      });
      expect(await next(stranger, CHAT)).toMatchObject({ status: 404, code: "item_not_found" });
      item.id = "msg_of_the_vendor";
      expect(await next(openai, CHAT)).toMatchObject({ status: 404, code: "item_not_found" });
      expect(await next(openai, NATIVE)).toBeUndefined();
      expect(journal.last().body).toContain("msg_of_the_vendor");
    });

    test("thoughts with another vendor's signature are removed, and the call continues its conversation", async () => {
      const thinking = await openai.responses.create({
        model: CLAUDE,
        input: WORDS,
        include: ["reasoning.encrypted_content"],
      });
      const sealed = thinking.output.filter(
        ({ type }) => type === "reasoning",
      ) as OpenAI.Responses.ResponseReasoningItem[];
      expect(sealed[0]?.encrypted_content).toBeTruthy();
      const first = await openai.responses.create({ model: NATIVE, input: WORDS });
      await openai.responses.create({
        model: NATIVE,
        input: [...sealed, { role: "user", content: "next" }],
        previous_response_id: first.id,
        include: ["reasoning.encrypted_content"],
      });
      const sent = journal.last();
      expect(sent.path).toBe("/v1/responses");
      expect(JSON.parse(sent.body)).toMatchObject({ previous_response_id: first.id });
      expect(JSON.parse(sent.body)).not.toMatchObject({ store: false });
      expect(sent.body).not.toContain(sealed[0]?.encrypted_content ?? "?");
    });

    test("events are numbered without a gap, also where the answer arrived at once and its final frame waited for the charge", async () => {
      const text = await (
        await weir.call(key, { model: CHAT_BURST, input: WORDS, stream: true }, { path: "/v1/responses" })
      ).text();
      const numbers = [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
      expect(numbers).toEqual(numbers.map((_, index) => index));
      expect(text.trimEnd().split("\n").at(-2)).toBe("event: response.completed");
    });

    test("a response that is unknown, another user's, expired or not stored cannot be continued", async () => {
      for (const model of [NATIVE, CHAT]) {
        const next = (caller: OpenAI, previous_response_id: string): Promise<unknown> =>
          failing(caller.responses.create({ model, input: "next", previous_response_id }));
        const lost = {
          status: 404,
          code: "previous_response_not_found",
          type: "invalid_request_error",
          param: "previous_response_id",
        };
        const kept = await openai.responses.create({ model, input: WORDS });
        const loose = await openai.responses.create({ model, input: WORDS, store: false });
        journal.clear();
        expect(await next(openai, "resp_unknown")).toMatchObject(lost);
        expect(await next(stranger, kept.id)).toMatchObject(lost);
        expect(await next(openai, loose.id)).toMatchObject(lost);
        expect(
          await failing(
            openai.responses.inputTokens.count({ model, input: "x", previous_response_id: "resp_unknown" }),
          ),
        ).toMatchObject(lost);
        const { stored_objects } = weir.db.t;
        await weir.db.q.update(stored_objects).set({ expires_at: 1 }).where(eq(stored_objects.object_id, kept.id));
        expect(await next(openai, kept.id)).toMatchObject(lost);
        expect(posts()).toEqual([]);
      }
    });

    test("with a retention of 0 days nothing is stored, and calls still work", async () => {
      await weir.setOption("StoredResponseDays", 0);
      try {
        const answer = await openai.responses.create({ model: CHAT, input: WORDS });
        expect(answer.output_text).toBe(WORDS);
        expect(await failing(openai.responses.retrieve(answer.id))).toMatchObject({ status: 404 });
      } finally {
        await weir.setOption("StoredResponseDays", 30);
      }
    });

    test("a response can be continued twice and at once: every branch has its own content", async () => {
      const root = await openai.responses.create({ model: CHAT, input: WORDS });
      const branches = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          openai.responses.create({ model: CHAT, input: `branch ${index}`, previous_response_id: root.id }),
        ),
      );
      expect(new Set(branches.map(({ id }) => id)).size).toBe(6);
      const leaves = await Promise.all(
        branches.map(({ id }, index) =>
          openai.responses.create({ model: CHAT, input: `leaf ${index}`, previous_response_id: id }),
        ),
      );
      for (const [index, leaf] of leaves.entries()) {
        const texts = JSON.stringify((await openai.responses.inputItems.list(leaf.id)).data);
        expect(texts).toContain(`branch ${index}`);
        expect(texts.match(/branch \d/g)?.every((word) => word === `branch ${index}`)).toBe(true);
      }
    });

    test("unsupported calls are refused before any upstream is called: background calls, conversations, invalid shapes", async () => {
      journal.clear();
      for (const model of [NATIVE, CHAT]) {
        expect(await failing(openai.responses.create({ model, input: WORDS, conversation: "conv_1" }))).toMatchObject({
          status: 400,
        });
        for (const wrong of [{ previous_response_id: 7 }, { input: null }, { input: {} }]) {
          expect((await weir.call(key, { model, input: WORDS, ...wrong }, { path: "/v1/responses" })).status).toBe(400);
        }
      }
      // No channel stores the answer, so it could not be polled.
      expect(await failing(openai.responses.create({ model: CHAT, input: WORDS, background: true }))).toMatchObject({
        status: 400,
        code: "background_unsupported",
        param: "background",
      });
      expect(await failing(openai.responses.compact({ model: CHAT as string, input: WORDS }))).toMatchObject({
        code: "operation_unsupported",
      });
      expect(posts()).toEqual([]);
      const counted = await openai.responses.inputTokens.count({ model: CHAT, input: WORDS });
      expect(counted).toMatchObject({ object: "response.input_tokens", estimated: true });
      expect(counted.input_tokens).toBeGreaterThan(0);
    });

    test("a WebSocket is refused with 426 and a message, so that Codex falls back to HTTP", async () => {
      const headers = {
        authorization: `Bearer ${key}`,
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      };
      const refused = await fetch(`${weir.url}/v1/responses`, { headers });
      expect(refused.status).toBe(426);
      expect(await refused.json()).toMatchObject({ error: { code: "upgrade_refused" } });
      expect((await fetch(`${weir.url}/v1/responses`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(
        404,
      );
    });

    test("the ledger balances after all of it", async () => {
      expect(await weir.holds()).toBe(0);
      expect(await weir.audit()).toEqual([]);
    });
  });
}
