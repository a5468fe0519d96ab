/**
 * The routes of the log whose answers have no envelope, over HTTP: files, live rows, the log and the usage of one key.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { type Session, startWeir, type Weir } from "../../../../tests/kit/weir";
import { LOG_TYPE } from "../../../shared/log";
import type { LogTail, LogView } from "../../../shared/log-list";
import { ROLE } from "../../../shared/roles";
import type { NewLogRow } from "../../db/schema";
import { csvCell } from "../../../shared/csv";

test("a text that a spreadsheet would run as a formula is written as a text, and quotes and line ends stay inside their cell", () => {
  for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1"]) {
    expect(csvCell(text).replace(/^"/, "")).toStartWith("'");
  }
  expect(csvCell("gpt-4o")).toBe("gpt-4o");
  expect(csvCell('a "b", c\nd')).toBe('"a ""b"", c\nd"');
  expect(csvCell('=HYPERLINK("x","y")')).toBe(`"'=HYPERLINK(""x"",""y"")"`);
  expect(csvCell(-5)).toBe("-5");
});

setDefaultTimeout(HOOK_MS);

/** The events of one live log, read as they come. */
async function listen(weir: Weir, who: Session, query = "") {
  const leave = new AbortController();
  const response = await fetch(`${weir.url}/api/log/live?${query}`, { headers: who.headers, signal: leave.signal });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  return {
    response,
    leave: () => leave.abort(),
    next: async (): Promise<LogTail> => {
      for (;;) {
        const end = rest.indexOf("\n\n");
        if (end >= 0) {
          const frame = rest.slice(0, end);
          rest = rest.slice(end + 2);
          if (frame.startsWith("data: ")) return JSON.parse(frame.slice("data: ".length)) as LogTail;
          continue;
        }
        const chunk = await reader?.read();
        if (!chunk || chunk.done) throw new Error("the live log has ended");
        rest += decoder.decode(chunk.value, { stream: true });
      }
    },
  };
}

test("a shutdown does not wait for live logs: their streams end with it", async () => {
  const weir = await startWeir({ env: { WEIR_SHUTDOWN_SECONDS: "120", WEIR_DRAIN_SECONDS: "0" } });
  const live = await listen(weir, weir.root);
  await live.next();
  const ended = live.next().then(
    () => "a row",
    () => "ended",
  );
  await weir.stop();
  expect(await ended).toBe("ended");
});

for (const engine of ENGINES) {
  describe(`routes of the log on ${engine}`, () => {
    let weir: Weir;
    let ann: Session;
    let bob: Session;
    let token: { id: number; key: string };
    let made = 0;
    const now = Math.floor(Date.now() / 1000);

    const row = (who: Session, fields: Partial<NewLogRow> = {}): NewLogRow => ({
      request_id: `door-${++made}`,
      created_at: now - 1000,
      type: LOG_TYPE.consume,
      user_id: who.id,
      username: who.username,
      token_id: 0,
      token_name: "=cmd()",
      channel: 7,
      channel_name: "secret channel",
      group: "default",
      model_name: "gpt-4o-mini",
      quota: 10,
      content: "text",
      other: '{"admin_info":{"use_channel":["7"]},"model_ratio":1}',
      upstream_request_id: `up-${made}`,
      folded: 2,
      ...fields,
    });
    const insert = (...rows: NewLogRow[]) => weir.db.q.insert(weir.db.t.logs).values(rows);
    const download = async (who: Session, query: string) => {
      const response = await fetch(`${weir.url}/api/log/export?${query}`, { headers: who.headers });
      // text() would drop the mark at the beginning.
      return { response, text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(await response.arrayBuffer()) };
    };
    const lines = async (who: Session, query: string): Promise<LogView[]> =>
      (await download(who, `format=jsonl&${query}`)).text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line) as LogView);

    beforeAll(async () => {
      weir = await startWeir({ engine });
      [ann, bob] = [await weir.newUser({ role: ROLE.user }), await weir.newUser({ role: ROLE.user })];
      token = await weir.newToken({ name: "mine", quota: 500 }, ann);
      // More than two batches of a file, many of one second.
      for (let part = 0; part < 6; part++)
        await insert(
          ...Array.from({ length: 200 }, (_, i) => row(ann, { created_at: now - 2000 - Math.floor(i / 50) })),
        );
      await insert(
        row(ann, { token_id: token.id, token_name: "mine", model_name: "by-key" }),
        row(ann, { token_id: token.id, token_name: "mine", model_name: "by-key", created_at: now - 4 * 86_400 }),
        row(ann, { token_id: token.id, token_name: "mine", model_name: "hidden", visible: false }),
        row(bob, { model_name: "of-bob" }),
      );
    }, HOOK_MS);
    afterAll(() => weir?.stop());

    test("a file holds every filtered row once, newest first, and a user's file only the user's own rows", async () => {
      const all = await lines(weir.root, "model_name=gpt-4o-mini");
      expect(all).toHaveLength(1200);
      expect(new Set(all.map((item) => item.id)).size).toBe(1200);
      const places = all.map((item) => item.created_at);
      expect(places).toEqual([...places].sort((a, b) => b - a));
      expect(all[0]?.channel_name).toBe("secret channel");
      const own = await lines(ann, `username=${bob.username}`);
      expect(own).toHaveLength(1202);
      for (const item of own)
        expect([item.user_id, item.channel, item.channel_name, item.upstream_request_id]).toEqual([ann.id, 0, "", ""]);
      expect(own[0]?.other).not.toContain("admin_info");
      expect(await lines(bob, "")).toHaveLength(1);
      expect(await lines(bob, "model_name=nothing-like-it")).toEqual([]);
    });

    test("CSV is a table with column names, safe for spreadsheets, without channels for users", async () => {
      const { response, text } = await download(ann, "model_name=by-key");
      expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
      expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="weir-log-[\dT-]+\.csv"$/);
      const [head = "", ...rows] = text.split("\r\n");
      expect(text.charCodeAt(0)).toBe(0xfeff);
      expect(head).toContain("id,created_at,time,type,username");
      expect(head).not.toContain("channel");
      expect(rows.filter(Boolean)).toHaveLength(2);
      const admin = await download(weir.root, `username=${bob.username}`);
      expect(admin.text).toContain("secret channel");
      expect(admin.text).toContain("'=cmd()");
      expect((await download(bob, "model_name=nothing-like-it")).text.split("\r\n").filter(Boolean)).toHaveLength(1);
    });

    test("guests get no file and no live log, and odd parameters an error envelope", async () => {
      for (const path of ["/api/log/export", "/api/log/live", "/api/log/export/"]) {
        expect(await weir.anonymous("GET", path)).toMatchObject({ status: 401, body: { success: false } });
      }
      expect((await ann.api("GET", "/api/log/export?format=xlsx")).body).toMatchObject({
        success: false,
        code: "invalid_parameter",
      });
      expect(
        (await ann.api("GET", "/api/log/export?start_timestamp=NaN&type=x&token_id=null&model_name=nothing-like-it"))
          .status,
      ).toBe(200);
    });

    test("the holder of a key reads the last three days of its log, and others nothing", async () => {
      const spellings: [string, Record<string, string>][] = [
        [`?key=${token.key}`, {}],
        [`?key=${token.key.replace(/^sk-/, "")}`, {}],
        ["", { authorization: `Bearer ${token.key}` }],
      ];
      for (const [path, headers] of spellings) {
        const { body, headers: answered } = await weir.anonymous("GET", `/api/log/token${path}`, undefined, headers);
        // spec: C-647
        expect(body).toMatchObject({
          success: true,
          data: [{ model_name: "by-key", channel: 0, channel_name: "", token_name: "mine" }],
        });
        expect(answered.get("access-control-allow-origin")).toBe("*");
      }
      const { body } = await weir.anonymous(
        "GET",
        `/api/log/token/?key=${token.key}&start_timestamp=${now - 10 * 86_400}`,
      );
      // spec: C-647
      expect(body.data).toHaveLength(2);
      for (const key of ["", "null", "sk-", "sk-nobody", "%00", "x".repeat(5000)]) {
        const answer = await weir.anonymous("GET", `/api/log/token?key=${key}`);
        expect(answer.body.success).toBe(false);
        expect(answer.body.data).toBeUndefined();
      }
    });

    test("the usage of a key has the shape that existing clients read, also when it is used up, and not when it is disabled", async () => {
      const usage = (key: string) =>
        weir.anonymous("GET", "/api/usage/token", undefined, { authorization: `Bearer ${key}` });
      const { body } = await usage(token.key);
      expect<object>(body).toEqual({
        code: true,
        message: "ok",
        data: {
          object: "token_usage",
          name: "mine",
          total_granted: 500,
          total_used: 0,
          total_available: 500,
          unlimited_quota: false,
          model_limits: {},
          model_limits_enabled: false,
          expires_at: 0,
        },
      });
      const limited = await weir.newToken(
        { name: "few", quota: 0, model_limits_enabled: true, model_limits: "a,b", expired_time: now + 5000 },
        ann,
      );
      expect((await usage(limited.key)).body.data).toMatchObject({
        total_available: 0,
        model_limits: { a: true, b: true },
        expires_at: now + 5000,
      });
      await ann.ok("PUT", "/api/token/?status_only=true", { id: limited.id, status: 2 });
      for (const path of ["/api/usage/token", "/api/log/token"]) {
        const answer = await weir.anonymous("GET", path, undefined, { authorization: `Bearer ${limited.key}` });
        expect(answer.body).toMatchObject({ success: false, code: "token_disabled" });
      }
      expect(await weir.anonymous("GET", "/api/usage/token")).toMatchObject({
        status: 401,
        body: { success: false, code: "token_missing" },
      });
      const asked = await fetch(`${weir.url}/api/usage/token`, {
        method: "OPTIONS",
        headers: { origin: "https://elsewhere.example", "access-control-request-headers": "authorization" },
      });
      expect([asked.status, asked.headers.get("access-control-allow-headers")]).toEqual([204, "authorization"]);
    });

    test("the live log pushes new rows to their users, as filtered, and a listener that reconnects gets what it missed", async () => {
      const [everything, own, filtered] = await Promise.all([
        listen(weir, weir.root),
        listen(weir, ann),
        listen(weir, ann, "model_name=live-b"),
      ]);
      expect(everything.response.headers.get("content-type")).toStartWith("text/event-stream");
      const [first] = await Promise.all([everything.next(), own.next(), filtered.next()]);
      expect(first).toMatchObject({ items: [], skipped: false });
      await insert(
        row(ann, { model_name: "live-a", created_at: now }),
        row(bob, { model_name: "live-b", created_at: now }),
      );
      await insert(row(ann, { model_name: "live-b", created_at: now }));
      const models = async (of: Awaited<ReturnType<typeof listen>>, n: number) => {
        const found: LogView[] = [];
        while (found.length < n) found.push(...(await of.next()).items);
        return found;
      };
      expect((await models(everything, 3)).map((item) => item.channel)).toEqual([7, 7, 7]);
      expect((await models(own, 2)).map((item) => [item.user_id, item.channel])).toEqual([
        [ann.id, 0],
        [ann.id, 0],
      ]);
      expect((await models(filtered, 1)).map((item) => [item.user_id, item.model_name])).toEqual([[ann.id, "live-b"]]);
      own.leave();
      const again = await listen(weir, ann, `since=${first.end}`);
      expect((await again.next()).items.map((item) => item.model_name).sort()).toEqual(["live-a", "live-b"]);
      for (const one of [everything, filtered, again]) one.leave();
    });

    test("one user has four live logs at most, and a place is free again when one is closed", async () => {
      const open = await Promise.all(Array.from({ length: 4 }, () => listen(weir, bob)));
      expect((await bob.api("GET", "/api/log/live")).body).toMatchObject({ success: false, code: "log_tail_full" });
      for (const one of open) one.leave();
      let status = 429;
      for (let tries = 0; tries < 200 && status !== 200; tries++) {
        const one = await listen(weir, bob);
        status = one.response.status;
        one.leave();
        if (status !== 200) await Bun.sleep(50);
      }
      expect(status).toBe(200);
    });
  });
}
