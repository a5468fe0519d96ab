/**
 * Background responses as jobs on both engines. Objects follow OpenAI's guide to background mode and the types of the
 * `openai` SDK 7.55 (Response; November 2026).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, dearBetween, openTaskBench, type TaskBench } from "./kit";

const OPENAI = 1;
const MODEL = "gpt-5-mini";
const usage = {
  input_tokens: 200,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 300,
  output_tokens_details: { reasoning_tokens: 100 },
  total_tokens: 500,
};
/** Ratio 1, completion ratio 2. */
const COST = 200 + 2 * 300;

interface Response {
  [member: string]: unknown;
  id: string;
  status: string;
}

describe.each(ENGINES)("background responses on %s", (engine) => {
  let bench: TaskBench;
  let ann: Caller;
  let bob: Caller;
  const kept = new Map<string, Response>();
  /** The rows that the owner would find at each step of a submit, if the process ended there. */
  const found: [step: string, entry: boolean][] = [];
  /** The vendor's open streams, and those that were disconnected. */
  const streams = new Map<string, ReadableStreamDefaultController<Uint8Array>>();
  const left: string[] = [];
  const event = (type: string, sequence_number: number, more: object) =>
    Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...more })}\n\n`);
  const eventsOf = (source: UnderlyingDefaultSource<Uint8Array>) =>
    new globalThis.Response(new ReadableStream(source), { headers: { "content-type": "text/event-stream" } });
  const newResponse = (body: { background?: boolean; model?: string }): Response => {
    const response: Response = {
      id: `resp_${kept.size + 1}`,
      object: "response",
      created_at: 1_741_476_542,
      status: "queued",
      background: body.background,
      model: body.model,
      error: null,
      output: [],
      usage: null,
    };
    kept.set(response.id, response);
    return response;
  };
  /** The last request to the vendor. */
  let asked: unknown;
  beforeAll(async () => {
    bench = await openTaskBench(engine, (controlPlane) => {
      const look = async (step: string) => {
        const entry = await controlPlane.storedObjects.find("response", `resp_${kept.size}`, ann.user_id);
        found.push([step, entry !== undefined]);
      };
      const { tasks: taskStore, ledger } = controlPlane;
      return {
        tasks: { ...taskStore, answered: async (...all) => (await look("known"), taskStore.answered(...all)) },
        ledger: {
          extend: (...all) => ledger.extend(...all),
          release: (...all) => ledger.release(...all),
          later: (...all) => ledger.later(...all),
          settle: async (...all) => (await look("charged"), ledger.settle(...all)),
        },
      };
    });
    await bench.setOption("ModelRatio", JSON.stringify({ [MODEL]: 1, chatty: 1, polite: 1, strict: 1 }));
    await bench.setOption("CompletionRatio", JSON.stringify({ [MODEL]: 2 }));
    await bench.channel(OPENAI, [MODEL], { setting: JSON.stringify({ native_calls: "always" }) });
    await bench.channel(OPENAI, ["polite"], {
      setting: JSON.stringify({ native_calls: "always", system_prompt: "Be kind." }),
    });
    await bench.channel(OPENAI, ["strict"], {
      setting: JSON.stringify({ native_calls: "always", system_prompt: "Be kind.", system_prompt_override: true }),
    });
    await bench.channel(OPENAI, ["chatty"], { setting: JSON.stringify({ native_calls: "never" }) });
    bench.vendor
      .on("POST /v1/responses", ({ body }) => {
        asked = body;
        if (body.metadata?.fate === "refused")
          return globalThis.Response.json({ error: { message: "no", type: "invalid_request_error" } }, { status: 400 });
        if (body.metadata?.fate === "broken")
          return eventsOf({
            start: (stream) => (
              stream.enqueue(
                event("error", 0, { code: "server_error", message: "The server had an error.", param: null }),
              ),
              stream.close()
            ),
          });
        const response = newResponse(body);
        if (body.stream !== true) return response;
        return eventsOf({
          start(stream) {
            streams.set(response.id, stream);
            stream.enqueue(event("response.created", 0, { response }));
          },
          cancel: () => void left.push(response.id),
        });
      })
      .on(
        "GET /v1/responses/{id}",
        ({ params, query }) =>
          (query.get("stream") === "true"
            ? resumed(params.id ?? "", Number(query.get("starting_after") ?? -1))
            : undefined) ??
          kept.get(params.id ?? "") ??
          globalThis.Response.json(
            { error: { message: "Response not found", type: "invalid_request_error" } },
            { status: 404 },
          ),
      )
      .on(
        "DELETE /v1/responses/{id}",
        ({ params }) => (kept.delete(params.id ?? ""), { id: params.id, object: "response", deleted: true }),
      )
      .on("POST /v1/responses/{id}/cancel", ({ params }) =>
        Object.assign(kept.get(params.id ?? "") ?? {}, { status: "cancelled" }),
      );
  }, HOOK_MS);
  beforeEach(async () => {
    ann = await bench.caller();
    bob = await bench.caller();
    found.length = 0;
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  /** The events of a finished response, after a cursor. */
  const resumed = (id: string, after: number) =>
    eventsOf({
      start(stream) {
        [
          event("response.created", 0, {}),
          event("response.output_text.delta", 1, { delta: "Once" }),
          event("response.completed", 2, { response: kept.get(id) }),
        ]
          .slice(after + 1)
          .forEach((one) => stream.enqueue(one));
        stream.close();
      },
    });
  const create = (who = ann, more: object = {}, headers = {}) =>
    who.ask(
      "POST",
      "/v1/responses",
      { model: MODEL, input: "write a long story", max_output_tokens: 1000, background: true, ...more },
      headers,
    );
  const jobOf = async (upstream_id: string) => {
    const row = (await bench.tasks()).find((task) => task.upstream_id === upstream_id);
    if (!row) throw new Error("no job");
    return row;
  };

  test("a more expensive tier is dropped, where the operator does not allow it", async () => {
    expect((await create(ann, { service_tier: "priority" })).status).toBe(200);
    expect(asked).toMatchObject({ background: true, input: "write a long story" });
    expect(asked).not.toHaveProperty("service_tier");
    await create(ann, { service_tier: "flex" });
    expect(asked).toMatchObject({ service_tier: "flex" });
  });

  test("a tier that the channel leaves out is not charged", async () => {
    const rule = { name: "fast", when: { service_tier: ["priority"] }, then: { factor: 3 } };
    await bench.setOption("PriceRules", JSON.stringify({ [MODEL]: [rule] }));
    const held = async (more: object) => (await jobOf((await create(ann, more)).body.id)).quota;
    expect(await held({ service_tier: "priority" })).toBe(await held({ service_tier: "standard" }));
    await bench.setOption("PriceRules", "{}");
  });

  test("the caller gets the vendor's queued response at once, polls it by its id, and is charged its usage when it is complete", async () => {
    const { status, body } = await create();
    expect([status, body.object, body.status, body.background]).toEqual([200, "response", "queued", true]);
    const { charge_id, quota, input, data } = await jobOf(body.id);
    expect(quota).toBeGreaterThanOrEqual(2000);
    // The conversation is not stored with the job.
    expect(input + data).not.toContain("story");
    expect(await bench.money(ann)).toMatchObject({ used_quota: quota, held: 0 });
    expect((await ann.ask("GET", `/v1/responses/${body.id}`)).body).toMatchObject({ id: body.id, status: "queued" });
    expect((await bob.ask("GET", `/v1/responses/${body.id}`)).status).toBe(404);
    expect((await bob.ask("POST", `/v1/responses/${body.id}/cancel`)).status).toBe(404);

    Object.assign(kept.get(body.id) ?? {}, { status: "in_progress" });
    await bench.round();
    Object.assign(kept.get(body.id) ?? {}, {
      status: "completed",
      usage,
      output: [{ type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Once" }] }],
    });
    await bench.round();
    expect(await jobOf(body.id)).toMatchObject({ status: "SUCCESS", quota: COST, next_poll_at_ms: 0 });
    expect(await bench.money(ann)).toMatchObject({ used_quota: COST, token_used: COST });
    expect((await ann.ask("GET", `/v1/responses/${body.id}`)).body.output).toHaveLength(1);
    expect(charge_id).not.toBe("");
  });

  test.each([
    ["in a window and ended after it", 0, 10, 3],
    ["before a window and ended in it", 10, 40, 1],
  ] as const)("one that was submitted %s is charged the price of its submit", async (_, from, to, factor) => {
    await bench.setOption("PriceRules", JSON.stringify({ [MODEL]: [dearBetween(bench, from, to)] }));
    const { id } = (await create()).body;
    Object.assign(kept.get(id) ?? {}, { status: "completed", usage });
    await bench.round(20 * 60);
    expect(await jobOf(id)).toMatchObject({ status: "SUCCESS", quota: COST * factor });
    expect(await bench.money(ann)).toMatchObject({ used_quota: COST * factor });
    await bench.setOption("PriceRules", "{}");
  });

  test("one that fails or is cancelled without usage is refunded, one that was cut short is charged its usage", async () => {
    const failing = (await create()).body.id;
    Object.assign(kept.get(failing) ?? {}, {
      status: "failed",
      error: { code: "server_error", message: "The model broke" },
    });
    const cancelled = (await create()).body.id;
    expect((await ann.ask("POST", `/v1/responses/${cancelled}/cancel`)).body).toMatchObject({ status: "cancelled" });
    const short = (await create()).body.id;
    Object.assign(kept.get(short) ?? {}, {
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      usage,
    });
    await bench.round();
    expect(await jobOf(failing)).toMatchObject({ status: "FAILURE", fail_reason: "The model broke", quota: 0 });
    expect(await jobOf(cancelled)).toMatchObject({ status: "FAILURE", quota: 0 });
    expect(await jobOf(short)).toMatchObject({ status: "SUCCESS", quota: COST });
    expect(await bench.money(ann)).toMatchObject({ used_quota: COST });
  });

  test("an impossible count is estimated from the answer, and a large one is accepted, because the work is hidden", async () => {
    const output = [
      { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "sea ".repeat(100) }] },
    ];
    const lie = async (counts: object): Promise<number> => {
      const { id } = (await create()).body;
      Object.assign(kept.get(id) ?? {}, { status: "completed", usage: counts, output });
      await bench.round();
      return (await jobOf(id)).quota;
    };
    // A hundred tokens of text.
    expect(await lie({ input_tokens: 200, output_tokens: -1 })).toBe(200 + 2 * 100);
    expect(await lie({ input_tokens: 200, output_tokens: 0 })).toBe(200 + 2 * 100);
    expect(await lie({ input_tokens: 200, output_tokens: 400_000 })).toBe(200 + 2 * 400_000);
  });

  test("deleting it before it is polled does not make it free", async () => {
    const { id } = (await create()).body;
    const { quota } = await jobOf(id);
    expect((await ann.ask("DELETE", `/v1/responses/${id}`)).status).toBe(200);
    await bench.round();
    expect(await jobOf(id)).toMatchObject({ status: "SUCCESS", quota });
  });

  test("it continues only the caller's own responses, on the channel that stores them", async () => {
    const { id } = (await create()).body;
    expect((await create(bob, { previous_response_id: id })).body.error.code).toBe("previous_response_not_found");
    expect((await create(ann, { previous_response_id: id })).status).toBe(200);
    expect(bench.vendor.asked.at(-1)?.body).toMatchObject({ previous_response_id: id, background: true, store: true });
    await bench.round(25 * 3600);
  });

  test("a repeated call with one Idempotency-Key is submitted once", async () => {
    const headers = { "idempotency-key": "story" };
    const first = await create(ann, {}, headers);
    const count = bench.vendor.count("POST", "/v1/responses");
    expect((await create(ann, {}, headers)).body.id).toBe(first.body.id);
    expect(bench.vendor.count("POST", "/v1/responses")).toBe(count);
    await bench.round(25 * 3600);
  });

  test("as a stream the caller gets all of the vendor's events, can disconnect and resume with a cursor, and is charged once", async () => {
    const answer = await ann.send("POST", "/v1/responses", {
      model: MODEL,
      input: "write a long story",
      max_output_tokens: 1000,
      background: true,
      stream: true,
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const reader = answer.body?.getReader();
    const begun = Buffer.from((await reader?.read())?.value ?? []).toString();
    const id = /"id":"(resp_\d+)"/.exec(begun)?.[1] ?? "";
    expect(begun).toStartWith("event: response.created\n");
    expect(bench.vendor.asked.at(-1)?.body).toMatchObject({ stream: true, background: true, store: true });
    streams.get(id)?.enqueue(event("response.output_text.delta", 1, { delta: "Once" }));
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('"sequence_number":1');
    await reader?.cancel();
    expect(left).toContain(id);
    const charged = (await jobOf(id)).quota;
    expect(await bench.money(ann)).toMatchObject({ used_quota: charged, held: 0 });

    Object.assign(kept.get(id) ?? {}, { status: "completed", usage });
    const rest = await (await ann.send("GET", `/v1/responses/${id}?stream=true&starting_after=1`)).text();
    expect(rest).toStartWith("event: response.completed\n");
    expect((await bob.ask("GET", `/v1/responses/${id}?stream=true`)).status).toBe(404);
    await bench.round();
    expect(await jobOf(id)).toMatchObject({ status: "SUCCESS", quota: COST });
    expect(await bench.money(ann)).toMatchObject({ used_quota: COST, token_used: COST });
  });

  test("a repeated stream with one Idempotency-Key is submitted once, and its events are sent again", async () => {
    const headers = { "idempotency-key": "a streamed story" };
    const first = await ann.send(
      "POST",
      "/v1/responses",
      { model: MODEL, input: "x", background: true, stream: true },
      headers,
    );
    await first.body?.cancel();
    const count = bench.vendor.count("POST", "/v1/responses");
    const again = await ann.send(
      "POST",
      "/v1/responses",
      { model: MODEL, input: "x", background: true, stream: true },
      headers,
    );
    expect(await again.text()).toStartWith("event: response.created\n");
    expect(bench.vendor.count("POST", "/v1/responses")).toBe(count);
    await bench.round(25 * 3600);
  });

  test("a stream that is refused, or begins with an error, costs nothing", async () => {
    const refused = await create(ann, { stream: true, metadata: { fate: "refused" } });
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toStartWith("no ");
    const broken = await create(ann, { stream: true, metadata: { fate: "broken" } });
    expect(broken.status).toBeGreaterThanOrEqual(500);
    expect(broken.body.error.message).toBeString();
    await bench.round(3600);
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, used_quota: 0, held: 0 });
  });

  test("its owner can find it at every step: before the job has the vendor's id, and before the charge", async () => {
    await create();
    expect(found).toEqual([
      ["known", true],
      ["charged", true],
    ]);
    await bench.round(25 * 3600);
  });

  test("the channel's system prompt applies as to any call: added where the call has none, before its own where the operator says so", async () => {
    const sent = async (more: object) => {
      expect((await create(ann, more)).status).toBe(200);
      return bench.vendor.asked.at(-1)?.body.instructions;
    };
    expect(await sent({ model: "polite" })).toBe("Be kind.");
    expect(await sent({ model: "polite", instructions: "Be brief." })).toBe("Be brief.");
    expect(
      await sent({
        model: "polite",
        input: [
          { role: "developer", content: "Be brief." },
          { role: "user", content: "x" },
        ],
      }),
    ).toBeUndefined();
    expect(await sent({ model: "strict", instructions: "Be brief." })).toBe("Be kind.\n\nBe brief.");
    await bench.round(25 * 3600);
  });

  test("without a channel that stores responses, or with store off, it is refused and free", async () => {
    const count = bench.vendor.asked.length;
    expect((await create(ann, { model: "chatty" })).body.error).toMatchObject({ code: "background_unsupported" });
    expect((await create(ann, { store: false })).status).toBe(400);
    const poor = await bench.caller(1500);
    expect((await create(poor)).body.error.code).toBe("insufficient_quota");
    expect(bench.vendor.asked).toHaveLength(count);
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, held: 0 });
  });
});
