/** Callers' texts are bounded in the tables, and refused calls, which are free, do not fill the disk. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import type { LogRow } from "../../src/server/db/schema";
import { ENGINES } from "../kit/databases";
import { type Session, startWeir, type Weir } from "../kit/weir";

const MB = 1 << 20;
/** A refused call may not store more than this. */
const MOST_OF_A_ROW = 4096;
const ROWS_AN_HOUR = 100;

const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: 128 * MB,
  async fetch(request) {
    const body = (await request.json().catch(() => ({}))) as { model?: string };
    const headers = { "x-request-id": `req<script>"é" ${"x".repeat(1000)}` };
    if (body.model === "refusing")
      return Response.json(
        { error: { message: `no: ${"y".repeat(100_000)}`, type: "invalid_request_error", code: "z".repeat(10_000) } },
        { status: 400, headers },
      );
    return Response.json(
      {
        id: "c",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
      { headers },
    );
  },
});
afterAll(() => upstream.stop(true));

const sizeOf = (row: object): number => JSON.stringify(row).length;
const hello = [{ role: "user", content: "hi" }];
interface Other {
  repeated?: number;
  repeated_until?: number;
  request_path?: string;
}
const otherOf = (row: { other: string }): Other => JSON.parse(row.other) as Other;

/**
 * The status of a response whose body is read: an unread one would keep its connection, and the server from stopping.
 */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.arrayBuffer();
  return response.status;
}

/** Waits until `read` returns a matching value. */
async function until<T>(read: () => Promise<T>, fits: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + 15_000; ; await Bun.sleep(50)) {
    const value = await read();
    if (fits(value) || Date.now() > deadline) return value;
  }
}

for (const engine of ENGINES) {
  describe(engine, () => {
    let weir: Weir;
    let user: Session;
    let key = "";
    beforeAll(async () => {
      weir = await startWeir({ engine });
      await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["m", "refusing", "sora-2"] });
      await weir.priceModels({ m: 1, refusing: 1, "sora-2": 1 });
      user = await weir.newUser();
      ({ key } = await weir.newToken({}, user));
    });
    afterAll(() => weir?.stop());

    const rowsOf = async ({ id }: Session): Promise<LogRow[]> =>
      weir.db.q.select().from(weir.db.t.logs).where(eq(weir.db.t.logs.user_id, id)).orderBy(weir.db.t.logs.id);
    const newest = async (whose: Session): Promise<LogRow | undefined> => (await rowsOf(whose)).at(-1);
    const codeOf = async (response: Response): Promise<unknown> =>
      ((await response.json()) as { error?: { code?: string } }).error?.code;

    test("an overlong model name is refused at every route, and nothing is stored with it", async () => {
      const long = "a".repeat(257);
      const doors: [string, BodyInit, Record<string, string>?][] = [
        ["/v1/chat/completions", JSON.stringify({ model: long, messages: hello })],
        ["/v1/messages", JSON.stringify({ model: long, max_tokens: 9, messages: hello })],
        ["/v1/responses", JSON.stringify({ model: long, input: "hi" })],
        ["/v1/responses", JSON.stringify({ model: long, input: "hi", background: true })],
        ["/v1/embeddings", JSON.stringify({ model: long, input: "hi" })],
        ["/v1/images/generations", JSON.stringify({ model: long, prompt: "hi" })],
        [`/v1beta/models/${long}:generateContent`, JSON.stringify({ contents: [{ parts: [{ text: "hi" }] }] })],
        ["/v1/videos", JSON.stringify({ model: long, prompt: "hi" })],
        [
          "/v1/images/edits",
          `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${long}\r\n--b\r\nContent-Disposition: form-data; name="prompt"\r\n\r\nhi\r\n--b\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\nxx\r\n--b--\r\n`,
          { "content-type": "multipart/form-data; boundary=b" },
        ],
      ];
      for (const [path, body, headers] of doors) {
        const before = (await rowsOf(user)).length;
        const response = await fetch(weir.url + path, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${key}`,
            "x-goog-api-key": key,
            ...headers,
          },
          body,
        });
        expect([path, response.status]).toEqual([path, 400]);
        const text = await response.text();
        expect([path, /256/.test(text), text.includes(long)]).toEqual([path, true, false]);
        const rows = await rowsOf(user);
        expect([path, rows.length]).toEqual([path, before + 1]);
        const [row] = rows.slice(-1);
        expect([path, row?.model_name]).toEqual([path, ""]);
        expect([path, sizeOf(row ?? {}) < MOST_OF_A_ROW]).toEqual([path, true]);
        expect([path, JSON.stringify(row).includes("a".repeat(100)) && !path.includes(long)]).toEqual([path, false]);
      }
      expect(await statusOf(weir.call(key, { model: "b".repeat(256), messages: hello }))).not.toBe(400);
      expect((await newest(user))?.model_name).toBe("b".repeat(256));
    });

    test("twenty megabytes from a caller without balance leave a small row, whichever member contains them", async () => {
      const huge = "a".repeat(20 * MB);
      for (const body of [
        { model: huge, messages: hello },
        { model: "m", messages: hello, previous_response_id: huge, input: "hi" },
      ]) {
        for (const path of ["/v1/chat/completions", "/v1/responses"]) {
          expect(await statusOf(weir.call(key, body, { path }))).toBeGreaterThanOrEqual(400);
          expect(sizeOf((await newest(user)) ?? {})).toBeLessThan(MOST_OF_A_ROW);
        }
      }
      // An administrator's browser loads one page of the log.
      const page = await fetch(`${weir.url}/api/log/?type=5&page_size=100`, { headers: weir.root.headers });
      expect((await page.text()).length).toBeLessThan(100 * MOST_OF_A_ROW);
    });

    test("path, user agent and address of a refused call are stored within a limit", async () => {
      const path = `/v1beta/models/${"p".repeat(3000)}:generateContent`;
      await statusOf(
        fetch(weir.url + path, {
          method: "POST",
          headers: { "content-type": "application/json", "x-goog-api-key": key, "user-agent": "u".repeat(5000) },
          body: "{}",
        }),
      );
      const row = await newest(user);
      expect(otherOf(row ?? { other: "{}" }).request_path?.length).toBe(256);
      expect(sizeOf(row ?? {})).toBeLessThan(MOST_OF_A_ROW);
    });

    test("an upstream's message is stored within a limit, and its request id only in the format of an id", async () => {
      const payer = await weir.newUser({ quota: 1_000_000 });
      const { key: paying } = await weir.newToken({}, payer);
      expect(await statusOf(weir.call(paying, { model: "m", messages: hello }))).toBe(200);
      expect(await statusOf(weir.call(paying, { model: "refusing", messages: hello }))).toBe(400);
      const rows = await until(
        () => rowsOf(payer),
        (found) => found.length === 2,
      );
      expect(rows.length).toBe(2);
      for (const row of rows) {
        expect(row.upstream_request_id).toMatch(/^[\w.:;,@/+=~-]{1,128}$/);
        expect(sizeOf(row)).toBeLessThan(4 * MOST_OF_A_ROW);
      }
    });

    test("a job's texts are refused beyond their limit, before there is a job", async () => {
      const payer = await weir.newUser({ quota: 1_000_000_000 });
      const { key: paying } = await weir.newToken({}, payer);
      for (const fields of [{ prompt: "p".repeat(40_000) }, { prompt: "p", negative_prompt: "n".repeat(80_000) }]) {
        const response = await weir.call(paying, { model: "sora-2", ...fields }, { path: "/v1/videos" });
        expect([response.status, await codeOf(response)]).toEqual([400, "text_too_long"]);
      }
      expect(await weir.db.q.select().from(weir.db.t.tasks)).toEqual([]);
      expect(await weir.holds()).toBe(0);
      for (const row of await rowsOf(payer)) expect(sizeOf(row)).toBeLessThan(MOST_OF_A_ROW);
    });

    test("a session stores only the start of its user agent", async () => {
      const { username } = await weir.newUser();
      await statusOf(
        fetch(`${weir.url}/api/user/login`, {
          method: "POST",
          headers: { "content-type": "application/json", "user-agent": "w".repeat(5000) },
          body: JSON.stringify({ username, password: "correct-horse-9" }),
        }),
      );
      const longest = await weir.db.q
        .select({ n: sql<number>`max(length(${weir.db.t.sessions.user_agent}))`.mapWith(Number) })
        .from(weir.db.t.sessions);
      expect(longest).toEqual([{ n: 300 }]);
    });

    test("of one caller's refusals with the same code and model a hundred are rows, the rest count on the last of them", async () => {
      const poor = await weir.newUser();
      const { key: empty } = await weir.newToken({}, poor);
      const refused = async (model: string, times: number): Promise<void> => {
        for (let left = times; left > 0; left -= 20) {
          const statuses = await Promise.all(
            Array.from({ length: Math.min(20, left) }, () => statusOf(weir.call(empty, { model, messages: hello }))),
          );
          for (const status of statuses) expect(status).toBeGreaterThanOrEqual(400);
        }
      };
      const began = Math.floor(Date.now() / 1000);
      await refused("m", ROWS_AN_HOUR + 37);
      await refused("nobody-has-this", ROWS_AN_HOUR + 5);
      await refused("m", 3);
      const rows = await until(
        () => rowsOf(poor),
        (found) => found.reduce((sum, row) => sum + (otherOf(row).repeated ?? 0), 0) === 45,
      );
      // A new hour meanwhile allows each another hundred.
      const turned = Math.floor(began / 3600) !== Math.floor(Date.now() / 3_600_000);
      if (!turned) {
        for (const [model, more] of [
          ["m", 40],
          ["nobody-has-this", 5],
        ] as const) {
          const own = rows.filter((row) => row.model_name === model);
          expect([model, own.length]).toEqual([model, ROWS_AN_HOUR]);
          // The last of several concurrent ones need not have the last id.
          const counting = own.map(otherOf).filter(({ repeated }) => repeated !== undefined);
          expect([model, counting.map(({ repeated }) => repeated)]).toEqual([model, [more]]);
          const last = counting[0] ?? {};
          expect(last.repeated_until).toBeGreaterThanOrEqual(began);
          expect(last.repeated_until).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
        }
        // Another caller has its own hundred.
        const other = await weir.newUser();
        const { key: theirs } = await weir.newToken({}, other);
        await statusOf(weir.call(theirs, { model: "m", messages: hello }));
        expect((await rowsOf(other)).length).toBe(1);
      }
      // The owner is notified as well.
      const { items } = await poor.ok<{ items: { other: string }[] }>("GET", "/api/log/self/?type=5&page_size=100");
      expect(items.some((row) => (otherOf(row).repeated ?? 0) > 0)).toBe(true);
    });

    test("the statistics count every refusal, with a row or not, and the audit agrees", async () => {
      const poor = await weir.newUser();
      const { key: empty } = await weir.newToken({}, poor);
      const send = (times: number) =>
        Promise.all(Array.from({ length: times }, () => statusOf(weir.call(empty, { model: "m", messages: hello }))));
      const errors = async (): Promise<number> => {
        const u = weir.db.t.usage_hourly;
        const [row] = await weir.db.q
          .select({ n: sql<number>`coalesce(sum(${u.error_count}), 0)`.mapWith(Number) })
          .from(u)
          .where(eq(u.user_id, poor.id));
        return row?.n ?? 0;
      };
      await send(ROWS_AN_HOUR + 20);
      expect(await until(errors, (n) => n === ROWS_AN_HOUR + 20)).toBe(ROWS_AN_HOUR + 20);
      // The last row is already in the sums.
      await send(30);
      expect(await until(errors, (n) => n === ROWS_AN_HOUR + 50)).toBe(ROWS_AN_HOUR + 50);
      expect(
        await until(
          () => weir.audit(),
          (findings) => findings.length === 0,
        ),
      ).toEqual([]);
    });

    test("many different names do not evade it: beyond fifty pairs of code and model per caller, all count as one", async () => {
      const poor = await weir.newUser();
      const { key: empty } = await weir.newToken({}, poor);
      for (let round = 0; round < 20; round++) {
        await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            statusOf(weir.call(empty, { model: `invented-${round}-${i}`, messages: hello })),
          ),
        );
      }
      const rows = await until(
        () => rowsOf(poor),
        (found) => found.length + found.reduce((sum, row) => sum + (otherOf(row).repeated ?? 0), 0) === 400,
      );
      expect(rows.length + rows.reduce((sum, row) => sum + (otherOf(row).repeated ?? 0), 0)).toBe(400);
      expect(rows.length).toBeLessThanOrEqual(2 * (50 + ROWS_AN_HOUR));
    });
  });

  test(`${engine}: counts not yet written are written when the process stops`, async () => {
    await using weir = await startWeir({ engine, child: true, env: { WEIR_DRAIN_SECONDS: "0" } });
    const { key } = await weir.newToken();
    await Promise.all(
      Array.from({ length: ROWS_AN_HOUR + 11 }, () => statusOf(weir.call(key, { model: "nobody", messages: hello }))),
    );
    await weir.process?.stop();
    const rows = await weir.logs();
    expect(
      rows.length + rows.reduce((sum, row) => sum + (row.other === "" ? 0 : (otherOf(row).repeated ?? 0)), 0),
    ).toBeGreaterThanOrEqual(ROWS_AN_HOUR + 11);
    expect(rows.filter((row) => row.end_reason === "refused").length).toBeLessThanOrEqual(2 * ROWS_AN_HOUR);
  }, 30_000);
}
