/**
 * Every fault of a caller or an upstream, over the real server: a clear error in the caller's dialect or a correctly
 * ended stream, a log row, and a balance that is exact to the unit.
 */
import { textOfRow } from "../kit/row-text";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import type { LogRow } from "../../src/server/db/schema";
import { type EndReason, LOG_TYPE } from "../../src/shared/log";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Session, startWeir, type Weir } from "../kit/weir";

interface Fate {
  /** HTTP status; 200 for an answer that began. */
  status: number;
  /** Code of the error object: of the answer, or of the event that ends the stream. Absent: no error. */
  code?: string;
  end: EndReason;
}

const ok: Fate = { status: 200, end: "complete" };
const refused = (status: number, code: string, end: EndReason = "upstream_error"): Fate => ({ status, code, end });
const malformed = refused(502, "upstream_malformed");
const cut = refused(502, "upstream_cut", "upstream_cut");
const timedOut = refused(504, "upstream_timeout", "idle_timeout");
/** A stream that had begun: the status is sent already, an error event ends it, and the delivered part is charged. */
const ended = (code: string, end: EndReason): Fate => ({ status: 200, code, end });

/** Model of the fake upstream -> the outcome of a plain call and of a stream. */
const CASES: Record<string, { plain: Fate; stream: Fate; streamToo?: Fate }> = {
  "error-400": { plain: refused(400, "upstream_error"), stream: refused(400, "upstream_error") },
  // A dead key is not tried again at once.
  "error-401": { plain: refused(502, "upstream_error"), stream: refused(503, "channels_paused", "refused") },
  "error-403": { plain: refused(502, "upstream_error"), stream: refused(502, "upstream_error") },
  "error-404": { plain: refused(404, "model_not_found"), stream: refused(404, "model_not_found") },
  "error-429": { plain: refused(429, "rate_limit_exceeded"), stream: refused(429, "rate_limit_exceeded") },
  "error-500": { plain: refused(500, "upstream_error"), stream: refused(500, "upstream_error") },
  "error-503": { plain: refused(503, "upstream_error"), stream: refused(503, "upstream_error") },
  "error-in-200": { plain: refused(502, "upstream_error"), stream: refused(502, "upstream_error") },
  "error-midstream:2": { plain: refused(500, "upstream_error"), stream: ended("upstream_error", "upstream_error") },
  "html-error": { plain: refused(502, "upstream_error"), stream: refused(502, "upstream_error") },
  "html-200": { plain: malformed, stream: malformed },
  "cut-head": { plain: cut, stream: cut },
  "cut-midstream:2": { plain: cut, stream: ended("upstream_cut", "upstream_cut") },
  "cut-clean:2": { plain: malformed, stream: ended("upstream_cut", "upstream_cut") },
  // Either the frames or the broken end may be seen first; both are right.
  "lies-length:long": { plain: cut, stream: cut, streamToo: ok },
  "lies-length:short": { plain: malformed, stream: ended("upstream_cut", "upstream_cut") },
  "lies-gzip": { plain: malformed, stream: malformed },
  "hang-before-headers": { plain: timedOut, stream: timedOut },
  "hang-after-headers": { plain: timedOut, stream: timedOut },
  "hang-in-frame:2": { plain: timedOut, stream: ended("upstream_timeout", "idle_timeout") },
  "hang-after-done": { plain: timedOut, stream: ok },
  "big-frame:2000": { plain: ok, stream: ok },
  "bad-json": { plain: malformed, stream: ended("upstream_malformed", "upstream_error") },
  gzip: { plain: ok, stream: ok },
  "no-usage": { plain: ok, stream: ok },
  "late-usage:100": { plain: ok, stream: ok },
  "usage-every-chunk": { plain: ok, stream: ok },
  "split-bytes": { plain: ok, stream: ok },
  "empty-choices": { plain: ok, stream: ok },
};
/** Must not be in any response to a caller. */
const UPSTREAM_KEY = "sk-planted-upstream-key";
const GRANT = 10_000_000;

const upstream = startFakeUpstream();
let weir: Weir;
let user: Session;
let key = "";
/** Ids of the rows that existed when the test began. */
const seen = new Set<number>();

beforeAll(async () => {
  weir = await startWeir();
  const models = [...Object.keys(CASES), "words:5", "paced:500:20"];
  await weir.newChannel({ base_url: upstream.url, key: UPSTREAM_KEY, models: [...models, "unpriced"] });
  await weir.priceModels(Object.fromEntries([...models, "served-by-nobody"].map((model) => [model, 2])));
  await weir.setOption("RetryTimes", 0);
  for (const limit of ["RelayConnectTimeout", "RelayFirstByteTimeout", "RelayIdleTimeout"])
    await weir.setOption(limit, 1);
  // A whole answer has the whole time for its first byte.
  await weir.setOption("RelayTotalTimeout", 2);
  user = await weir.newUser({ quota: GRANT });
  ({ key } = await weir.newToken({ quota: GRANT / 2 }, user));
});
beforeEach(async () => {
  for (const row of await weir.logs()) seen.add(row.id);
});
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

const ask = (model: string, stream = false): object => ({
  model,
  stream,
  messages: [{ role: "user", content: "hello there" }],
});

/** The one new row, once it is written. */
async function newRow(): Promise<LogRow> {
  const row = await weir.waitForLog((candidate) => !seen.has(candidate.id));
  seen.add(row.id);
  expect((await weir.logs()).filter((other) => !seen.has(other.id))).toEqual([]);
  return row;
}

/** The ledger after every case: balance, token and log agree, and no hold is left. */
async function expectBooks(): Promise<void> {
  expect(await weir.holds()).toBe(0);
  expect(await weir.audit()).toEqual([]);
  const charged = (await weir.logs()).filter((row) => row.user_id === user.id && row.type === LOG_TYPE.consume);
  const sum = charged.reduce((total, row) => total + row.quota, 0);
  const balance = await weir.balance(user.id);
  expect(balance).toEqual({ quota: GRANT - sum, used_quota: sum, request_count: charged.length });
  const tokens = await user.ok<{ remain_quota: number; used_quota: number }[]>("GET", "/api/token/?size=100");
  expect(tokens.reduce((total, token) => total + token.used_quota, 0)).toBe(sum);
}

interface OtherOfRow {
  estimated?: boolean;
  end_reason: EndReason;
  admin_info?: { attempts: { failure: string; status: number }[] };
}
const otherOf = (row: LogRow): OtherOfRow => JSON.parse(row.other) as OtherOfRow;

describe("an upstream that misbehaves", () => {
  for (const [model, fates] of Object.entries(CASES)) {
    for (const kind of ["plain", "stream"] as const) {
      const likely = fates[kind];
      const outcome = likely.code ? `ends as ${likely.code}` : "is answered whole";
      test(`${model}: a ${kind} call ${outcome}, leaves its row, and the ledger balances`, async () => {
        const response = await weir.call(key, ask(model, kind === "stream"));
        const text = await response.text();
        const other = kind === "stream" ? fates.streamToo : undefined;
        const fate = other && response.status === other.status ? other : likely;
        expect(response.status).toBe(fate.status);
        expect(text).not.toContain(UPSTREAM_KEY);
        expect(text).not.toContain("<html");
        expect(response.headers.get("x-request-id")).toBeTruthy();

        const row = await newRow();
        expect(row).toMatchObject({
          user_id: user.id,
          model_name: model,
          end_reason: fate.end,
          is_stream: kind === "stream",
        });
        expect(otherOf(row).admin_info?.attempts ?? []).toHaveLength(fate.end === "refused" ? 0 : 1);
        if (fate.status !== 200) {
          const { error } = JSON.parse(text) as { error: Record<string, unknown> };
          expect(error).toMatchObject({ code: fate.code, message: expect.any(String), type: expect.any(String) });
          // spec: C-360
          expect(row).toMatchObject({ type: LOG_TYPE.error, quota: 0 });
          expect(textOfRow(row, "en")).not.toBe("");
        } else {
          expect(row.type).toBe(LOG_TYPE.consume);
          expect(row.quota).toBeGreaterThan(0);
          if (kind === "stream") expectStreamEnd(text, fate);
          else expect(JSON.parse(text)).toHaveProperty("choices");
        }
        await expectBooks();
      });
    }
  }

  /** Whole frames only; a good stream ends with [DONE], a broken one with an error event and no [DONE]. */
  function expectStreamEnd(text: string, fate: Fate): void {
    expect(text).toEndWith("\n\n");
    const frames = text
      .split("\n\n")
      .filter((frame) => frame.startsWith("data:"))
      .map((frame) => frame.slice(5).trim());
    const last = frames.at(-1) ?? "";
    expect(frames.slice(0, -1)).not.toContain("[DONE]");
    if (fate.code === undefined) expect(last).toBe("[DONE]");
    else expect(JSON.parse(last)).toMatchObject({ error: { code: fate.code, message: expect.any(String) } });
  }

  test("missing usage is estimated, and the row says so; reported usage is not", async () => {
    for (const [model, estimated] of [
      ["no-usage", true],
      ["cut-midstream:2", true],
      ["late-usage:100", undefined],
    ] as const) {
      await (await weir.call(key, ask(model, true))).text();
      const row = await newRow();
      expect(otherOf(row).estimated).toBe(estimated);
    }
    await expectBooks();
  });

  test("a caller that disconnects mid-stream aborts the upstream and pays for the delivered part", async () => {
    const controller = new AbortController();
    const response = await weir.call(key, ask("paced:500:20", true), { signal: controller.signal });
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    const row = await newRow();
    expect(row).toMatchObject({ end_reason: "caller_left", type: LOG_TYPE.consume });
    expect(row.quota).toBeGreaterThan(0);
    await upstream.journal.wait((entry) => entry.model === "paced:500:20" && entry.finished, 8000);
    await expectBooks();
  }, 15_000);
});

describe("the official SDK reads what went wrong", () => {
  const client = () => new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hello" }];

  test("a refused call is an APIError with status, code and message", async () => {
    const failure = await client()
      .chat.completions.create({ model: "html-error", messages })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    expect(failure).toMatchObject({ status: 502, code: "upstream_error" });
    await newRow();
  });

  test("a stream that breaks is an error of the iteration, after the received content", async () => {
    const stream = await client().chat.completions.create({ model: "cut-midstream:2", messages, stream: true });
    let content = "";
    const read = async () => {
      for await (const chunk of stream) content += chunk.choices[0]?.delta.content ?? "";
    };
    const failure = await read().catch((error: unknown) => error);
    expect(content).not.toBe("");
    expect(failure).toBeInstanceOf(OpenAI.APIError);
    await newRow();
    await expectBooks();
  });
});

describe("a caller's mistakes", () => {
  const expectRefusal = async (response: Response, status: number, code: string): Promise<void> => {
    const body = (await response.json()) as { error: unknown };
    expect({ status: response.status, error: body.error }).toMatchObject({
      status,
      error: { code, message: expect.any(String), type: expect.any(String) },
    });
  };

  const BODIES: [string, string, number, string][] = [
    ["malformed JSON", '{"model":', 400, "bad_json"],
    ["no object", "[1,2]", 400, "bad_json"],
    ["an empty body", "", 400, "bad_json"],
    ["no model", JSON.stringify({ messages: [] }), 400, "model_missing"],
    ["a model of the wrong type", JSON.stringify({ model: 5, messages: [] }), 400, "invalid_request"],
    ["a model with half a character", '{"model":"\\ud800","messages":[]}', 400, "invalid_request"],
    ["a model that nobody serves", JSON.stringify(ask("served-by-nobody")), 404, "model_not_found"],
    ["a model without a price", JSON.stringify(ask("unpriced")), 500, "model_price_missing"],
  ];
  for (const [what, body, status, code] of BODIES) {
    test(`${what} is refused and costs nothing`, async () => {
      const before = await weir.balance(user.id);
      const response = await weir.call(key, body);
      const text = await response.clone().text();
      expect(text).toContain("error");
      await expectRefusal(response, status, code);
      expect(await weir.balance(user.id)).toEqual(before);
      await expectBooks();
    });
  }

  // The relay checks the price before the model is served, so the operator's mistake hides the caller's (C-597).
  test("a model that is neither served nor priced is an unknown model, not a missing price", async () => {
    const response = await weir.call(key, ask("no-such-model"));
    await expectRefusal(response, 404, "model_not_found");
  });

  test("a body over the limit is refused with 413, whether it says its length or not", async () => {
    const small = await startWeir({ env: { WEIR_MAX_BODY_MB: "1" } });
    try {
      const { key: rootKey } = await small.newToken();
      const large = JSON.stringify({ ...ask("words:5"), filler: "x".repeat(2 * 1024 * 1024) });
      expect((await small.call(rootKey, large)).status).toBe(413);
      const chunked = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(large));
          controller.close();
        },
      });
      const headers = { authorization: `Bearer ${rootKey}`, "content-type": "application/json" };
      expect((await fetch(`${small.url}/v1/chat/completions`, { method: "POST", headers, body: chunked })).status).toBe(
        413,
      );
      expect(await small.audit()).toEqual([]);
    } finally {
      await small.stop();
    }
  });

  test("a token that is missing, malformed, expired, exhausted, disabled or used from elsewhere is refused with its reason", async () => {
    const expired = await weir.newToken({ name: "expired", expired_time: 1_600_000_000 }, user);
    const exhausted = await weir.newToken({ name: "exhausted", quota: 0 }, user);
    const disabled = await weir.newToken({ name: "disabled" }, user);
    await user.ok("PUT", "/api/token/?status_only=true", { id: disabled.id, status: 2 });
    const elsewhere = await weir.newToken({ name: "elsewhere", allow_ips: "10.0.0.0/8" }, user);
    const limited = await weir.newToken({ name: "limited", model_limits_enabled: true, model_limits: "gpt-4o" }, user);
    const reasons: [string, number, string][] = [
      ["", 401, "token_missing"],
      ["sk-nonsense", 401, "token_invalid"],
      ["sk-' OR 1=1 --", 401, "token_invalid"],
      [`sk-${"A".repeat(48)}`, 401, "token_invalid"],
      [expired.key, 401, "token_expired"],
      [exhausted.key, 429, "insufficient_quota"],
      [disabled.key, 401, "token_disabled"],
      [elsewhere.key, 403, "token_ip_denied"],
      [limited.key, 403, "token_model_denied"],
      [`${key}-1`, 403, "token_channel_denied"],
    ];
    for (const [wrong, status, code] of reasons)
      await expectRefusal(await weir.call(wrong, ask("words:5")), status, code);
    await expectBooks();
  });

  test("a deleted token stops working at once", async () => {
    const { id, key: dying } = await weir.newToken({ name: "dying" }, user);
    expect((await weir.call(dying, ask("words:5"))).status).toBe(200);
    await user.ok("DELETE", `/api/token/${id}`);
    await expectRefusal(await weir.call(dying, ask("words:5")), 401, "token_invalid");
    expect(await weir.audit()).toEqual([]);
  });
});
