/**
 * Batches as jobs on both engines: held by the lines of their input, settled by the usage of their output, refunded in
 * part. Objects follow OpenAI's API reference, batches and files, and the types of the `openai` SDK 7.55 (November
 * 2026).
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Caller, dearBetween, openTaskBench, type TaskBench } from "./kit";

const OPENAI = 1;
const MODEL = "gpt-4o-mini";
const URL = "/v1/chat/completions";

const line = (n: number, body: object = {}, more: object = {}): string =>
  JSON.stringify({
    custom_id: `r${n}`,
    method: "POST",
    url: URL,
    body: { model: MODEL, messages: [{ role: "user", content: "hi" }], max_tokens: 1000, ...body },
    ...more,
  });
/** 100 tokens in and 20 out per line. */
const answered = (n: number, status = 200): string =>
  JSON.stringify({
    id: `batch_req_${n}`,
    custom_id: `r${n}`,
    error: null,
    response: {
      status_code: status,
      request_id: "x",
      body: {
        id: "chatcmpl-1",
        object: "chat.completion",
        model: MODEL,
        choices: [],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      },
    },
  });
/** Ratio 1, completion ratio 2, batch ratio one half: 70 units per line. */
const A_LINE = (100 + 20 * 2) / 2;

interface Batch {
  [member: string]: unknown;
  id: string;
  status: string;
}

describe.each(ENGINES)("batches on %s", (engine) => {
  let bench: TaskBench;
  let ann: Caller;
  let bob: Caller;
  let batch: Batch;
  const contents = new Map<string, string>();
  let files = 0;
  beforeAll(async () => {
    bench = await openTaskBench(engine);
    await bench.setOption("ModelRatio", JSON.stringify({ [MODEL]: 1, other: 1 }));
    await bench.setOption("CompletionRatio", JSON.stringify({ [MODEL]: 2 }));
    await bench.channel(OPENAI, [MODEL, "other"], {
      setting: JSON.stringify({ allow_files: true, allow_batches: true }),
    });
    bench.vendor
      .on("POST /v1/files", ({ body }) => {
        const id = `file-${++files}`;
        contents.set(id, String(body).split("\r\n\r\n").at(-1)?.split("\r\n--")[0] ?? "");
        return {
          id,
          object: "file",
          bytes: 10,
          created_at: 1_711_471_533,
          filename: "in.jsonl",
          purpose: "batch",
          status: "processed",
        };
      })
      .on("GET /v1/files/{id}/content", ({ params }) => {
        const content = contents.get(params.id ?? "");
        return content === undefined
          ? Response.json({ error: { message: "No such File object", type: "invalid_request_error" } }, { status: 404 })
          : new Response(content);
      })
      .on("POST /v1/batches", ({ body }) => {
        batch = {
          id: "batch_abc123",
          object: "batch",
          endpoint: body.endpoint,
          errors: null,
          input_file_id: body.input_file_id,
          completion_window: body.completion_window,
          status: "validating",
          output_file_id: null,
          error_file_id: null,
          created_at: 1_711_471_533,
          expires_at: 1_711_557_933,
          request_counts: { total: 0, completed: 0, failed: 0 },
          metadata: null,
        };
        return batch;
      })
      .on("GET /v1/batches/{id}", () => batch)
      .on("POST /v1/batches/{id}/cancel", () => Object.assign(batch, { status: "cancelling" }));
  }, HOOK_MS);
  beforeEach(async () => {
    ann = await bench.caller();
    bob = await bench.caller();
  });
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  async function upload(lines: readonly string[], who = ann): Promise<string> {
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new File([lines.join("\n")], "in.jsonl", { type: "application/jsonl" }));
    const { body } = await who.ask("POST", "/v1/files", form);
    contents.set(body.id, lines.join("\n"));
    return body.id;
  }
  const create = (input_file_id: string, who = ann, more = {}) =>
    who.ask("POST", "/v1/batches", { input_file_id, endpoint: URL, completion_window: "24h", ...more });

  test("a batch is charged the most that its lines may cost, and corrected by the usage in its output", async () => {
    const file = await upload([line(1), line(2), line(3), ""]);
    const made = await create(file);
    expect(made).toMatchObject({
      status: 200,
      body: { object: "batch", status: "validating", input_file_id: file, endpoint: URL, expires_at: 1_711_557_933 },
    });
    const { id, quota } = made.body;
    expect(id).toMatch(/^batch_[0-9a-f]{32}$/);
    // 1,000 output tokens per line at half of ratio 2, and the input by its bytes.
    expect(quota).toBeGreaterThan(3 * 1000);
    expect(quota).toBeLessThan(3 * 1000 + 300);
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000 - quota, used_quota: quota, held: 0 });

    Object.assign(batch, { status: "in_progress", request_counts: { total: 3, completed: 1, failed: 0 } });
    await bench.round(60);
    expect(await bench.task(id)).toMatchObject({ status: "IN_PROGRESS", progress: "33%" });

    contents.set("file-out", [answered(1), answered(2), answered(3, 400)].join("\n"));
    Object.assign(batch, {
      status: "completed",
      output_file_id: "file-out",
      request_counts: { total: 3, completed: 2, failed: 1 },
    });
    expect((await ann.ask("GET", `/v1/batches/${id}`)).body).toMatchObject({
      id,
      status: "completed",
      output_file_id: "file-out",
      quota: 2 * A_LINE,
    });
    expect(await bench.money(ann)).toMatchObject({ used_quota: 2 * A_LINE, token_used: 2 * A_LINE });
    expect(await bench.bills(id)).toMatchObject([
      { type: 2, quota },
      { type: 6, quota: quota - 2 * A_LINE },
    ]);
    // The row of its charge says what the lines came to.
    const [charge] = await bench.bills(id);
    const settled = { quota: 2 * A_LINE, prompt_tokens: 200, completion_tokens: 40 };
    const price_rule = { name: "Batch", when: { batch: true }, then: { factor: 0.5 } };
    expect(JSON.parse(charge?.other ?? "{}")).toMatchObject({ settled, price_rule });
    // Its output belongs to its owner, and to no other user.
    expect((await ann.send("GET", "/v1/files/file-out/content")).status).toBe(200);
    expect((await bob.send("GET", "/v1/files/file-out/content")).status).toBe(404);
  });

  test.each([
    ["in a window and ended after it", 0, 10, 3, "dear"],
    ["before a window and ended in it", 10, 40, 1, "Batch"],
  ] as const)("a batch that was submitted %s is charged the price of its submit", async (_, from, to, factor, rule) => {
    await bench.setOption("PriceRules", JSON.stringify({ [MODEL]: [dearBetween(bench, from, to)] }));
    const { id } = (await create(await upload([line(1)]))).body;
    contents.set("file-late", answered(1));
    Object.assign(batch, { status: "completed", output_file_id: "file-late" });
    await bench.round(20 * 60);
    expect(await bench.task(id)).toMatchObject({ status: "SUCCESS", quota: A_LINE * factor });
    const [charge] = await bench.bills(id);
    expect(JSON.parse(charge?.other ?? "{}")).toMatchObject({ price_rule: { name: rule } });
    await bench.setOption("PriceRules", "{}");
  });

  test("a line with an impossible count costs its text and its share of the input; a sum above the limits is bounded, and marked", async () => {
    const said = (n: number, usage: object): string =>
      answered(n)
        .replace(
          '"choices":[]',
          `"choices":[{"index":0,"message":{"role":"assistant","content":"${"sea ".repeat(100)}"},"finish_reason":"stop"}]`,
        )
        .replace(/"usage":\{[^}]*\}/, `"usage":${JSON.stringify(usage)}`);
    const file = await upload([line(1), line(2), line(3)]);
    const { id } = (await create(file)).body;
    // 400 bytes: a hundred tokens.
    contents.set(
      "file-lies",
      [
        said(1, { prompt_tokens: 100, completion_tokens: -5 }),
        said(2, { prompt_tokens: 100, completion_tokens: 0 }),
        said(3, { prompt_tokens: 100, completion_tokens: 20.5 }),
      ].join("\n"),
    );
    Object.assign(batch, {
      status: "completed",
      output_file_id: "file-lies",
      request_counts: { total: 3, completed: 3, failed: 0 },
    });
    expect((await ann.ask("GET", `/v1/batches/${id}`)).body).toMatchObject({ quota: (300 + 300 * 2) / 2 });

    const large = (await create(await upload([line(1)]))).body;
    contents.set("file-large", said(1, { prompt_tokens: 100, completion_tokens: 2_000_000_000 }));
    Object.assign(batch, {
      status: "completed",
      output_file_id: "file-large",
      request_counts: { total: 1, completed: 1, failed: 0 },
    });
    expect((await ann.ask("GET", `/v1/batches/${large.id}`)).body).toMatchObject({ quota: (100 + 200_000 * 2) / 2 });
    const [, more] = await bench.bills(large.id);
    expect(JSON.parse(more?.other ?? "{}")).toMatchObject({
      usage_doubts: [{ side: "output", rule: "implausible", reported: 2_000_000_000, charged: 200_000 }],
    });
  });

  test("a batch that used more is charged the rest", async () => {
    const file = await upload([line(1, { max_tokens: 1 })]);
    const { id, quota } = (await create(file)).body;
    contents.set("file-long", answered(1).replace('"completion_tokens":20', '"completion_tokens":5000'));
    Object.assign(batch, { status: "completed", output_file_id: "file-long" });
    await bench.round(60);
    expect(await bench.task(id)).toMatchObject({ status: "SUCCESS", quota: (100 + 5000 * 2) / 2, next_poll_at_ms: 0 });
    expect(await bench.bills(id)).toMatchObject([
      { type: 2, quota },
      { type: 2, quota: (100 + 5000 * 2) / 2 - quota },
    ]);
  });

  test("a cancelled batch is charged for its answered lines, and a failed one is refunded in full", async () => {
    const { id } = (await create(await upload([line(1), line(2)]))).body;
    expect((await ann.ask("POST", `/v1/batches/${id}/cancel`)).body).toMatchObject({ id, status: "cancelling" });
    contents.set("file-part", answered(1));
    Object.assign(batch, { status: "cancelled", output_file_id: "file-part" });
    await bench.round(60);
    expect((await ann.ask("GET", `/v1/batches/${id}`)).body).toMatchObject({ status: "cancelled", quota: A_LINE });
    expect((await ann.ask("POST", `/v1/batches/${id}/cancel`)).status).toBe(400);

    const second = (await create(await upload([line(1)]))).body;
    Object.assign(batch, {
      status: "failed",
      errors: {
        object: "list",
        data: [{ code: "invalid_json_line", message: "This line is not parseable", line: 1, param: null }],
      },
    });
    await bench.round(60);
    expect((await ann.ask("GET", `/v1/batches/${second.id}`)).body).toMatchObject({ status: "failed", quota: 0 });
    expect(await bench.task(second.id)).toMatchObject({ status: "FAILURE", fail_reason: "This line is not parseable" });
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000 - A_LINE, used_quota: A_LINE });
  });

  test("invalid lines are refused by number before the vendor is called", async () => {
    const before = bench.vendor.count("POST", "/v1/batches");
    const wrong: [lines: string[], number: number][] = [
      [["{"], 1],
      [[line(1), "[]"], 2],
      [[line(1), line(2, { model: "other" })], 2],
      [[line(1, {}, { method: "GET" })], 1],
      [[line(1, {}, { url: "/v1/embeddings" })], 1],
      [[line(1, {}, { custom_id: "" })], 1],
      [[line(1, { model: 7 })], 1],
      [[line(1, { stream: true })], 1],
      // What is there twice might be read differently by the vendor.
      [[line(1).replace('"model":"', '"model":"dear","model":"')], 1],
      [[line(1), line(2).replace('"body":', '"body":{},"body":')], 2],
      [[JSON.stringify({ custom_id: "a", method: "POST", url: URL })], 1],
    ];
    for (const [lines, number] of wrong) {
      const { status, body } = await create(await upload(lines));
      expect([lines, status, body.error?.code]).toEqual([lines, 400, "batch_line_invalid"]);
      expect(body.error.message).toContain(`Line ${number} `);
    }
    expect((await create(await upload(["", " "]))).status).toBe(400);
    for (const more of [
      { endpoint: "/v1/images/generations" },
      { endpoint: null },
      { input_file_id: 7 },
      { input_file_id: null },
    ]) {
      expect((await create("file-1", ann, more)).status).toBe(400);
    }
    expect((await create(await upload([line(1, { model: "gpt-unknown" })]))).body.error.code).toBe("model_not_found");
    expect(bench.vendor.count("POST", "/v1/batches")).toBe(before);
    expect(await bench.money(ann)).toMatchObject({ quota: 1_000_000, held: 0 });
  });

  test("without balance for the lines, or access to their model, no batch is created", async () => {
    const poor = await bench.caller(1500);
    expect((await create(await upload([line(1), line(2)], poor), poor)).body.error.code).toBe("insufficient_quota");
    const limited = await bench.caller(1_000_000, { model_limits_enabled: true, model_limits: "other" });
    expect((await create(await upload([line(1)], limited), limited)).body.error.code).toBe("token_model_denied");
    expect(await bench.money(poor)).toMatchObject({ quota: 1500, held: 0 });
  });

  test("another user finds neither the file nor the batch", async () => {
    const file = await upload([line(1)]);
    expect(await create(file, bob)).toMatchObject({ status: 404, body: { error: { code: "file_not_found" } } });
    const { id } = (await create(file)).body;
    for (const [method, path] of [
      ["GET", `/v1/batches/${id}`],
      ["POST", `/v1/batches/${id}/cancel`],
    ] as const) {
      expect(await bob.ask(method, path)).toMatchObject({ status: 404, body: { error: { code: "batch_not_found" } } });
    }
    expect((await bob.ask("GET", "/v1/batches")).body).toMatchObject({ object: "list", data: [], has_more: false });
    expect((await ann.ask("GET", "/v1/batches?limit=1")).body).toMatchObject({
      object: "list",
      data: [{ id }],
      first_id: id,
    });
    // The vendor's own id finds nothing.
    expect((await ann.ask("GET", `/v1/batches/${batch.id}`)).status).toBe(404);
    await bench.round(49 * 3600);
  });
});
