/** Texts stay texts: they never become a query, template, command or pattern (docs/security.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

const SQL = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE users; --",
  "1; SELECT pg_sleep(5)",
  "' || pg_sleep(5) --",
  "1) OR (SELECT 1 FROM pg_sleep(5)) IS NOT NULL --",
  '" OR ""="',
  "\\'; --",
  "' UNION SELECT password_hash FROM users --",
  "1/**/OR/**/1=1",
  "%27%20OR%201=1",
  "${1}",
  "$1",
  "?",
  ":1",
  "randomblob(500000000)",
];
/** Less than the pause that SQL above asks for. Only signing in, which hashes, comes near a second. */
const LONGEST_MS = 4_000;
const upstream = startFakeUpstream();

/** Times each request by itself: a pause in one of hundreds does not hide among them. */
function stopwatch(): { time<T>(work: Promise<T>): Promise<T>; longest(): number } {
  let longest = 0;
  return {
    longest: () => longest,
    async time(work) {
      const started = performance.now();
      try {
        return await work;
      } finally {
        longest = Math.max(longest, performance.now() - started);
      }
    },
  };
}

for (const engine of ENGINES) {
  describe(engine, () => {
    let weir: Weir;
    let user: Session;
    beforeAll(async () => {
      weir = await startWeir({ engine });
      await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
      await weir.priceModels({ echo: 1 });
      user = await weir.newUser({ quota: 5_000_000 });
    }, HOOK_MS);
    afterAll(() => weir?.stop());

    test("CVE-2026-42208: SQL in a bearer token, in every header and in ?key= is an unknown key, and costs no time", async () => {
      const { time, longest } = stopwatch();
      for (const text of SQL) {
        const printable = encodeURIComponent(text);
        const tries: [string, RequestInit][] = [
          ["/v1/models", { headers: { authorization: `Bearer ${text}` } }],
          ["/v1/models", { headers: { authorization: `Bearer sk-${text}` } }],
          ["/v1/models", { headers: { "x-api-key": text } }],
          ["/v1/models", { headers: { "x-goog-api-key": text } }],
          [`/v1/models?key=${printable}`, {}],
        ];
        for (const [path, init] of tries)
          expect([text, (await time(fetch(weir.url + path, init))).status]).toEqual([text, 401]);
        const ask = (...call: Parameters<typeof weir.anonymous>) => time(weir.anonymous(...call));
        const cookie = { cookie: `session=${printable}`, "new-api-user": "1" };
        expect((await ask("GET", "/api/user/self", undefined, cookie)).status).toBe(401);
        expect((await ask("GET", "/api/user/self", undefined, { authorization: text })).body.success).toBe(false);
        expect((await ask("POST", "/api/user/login", { username: text, password: text })).body.success).toBe(false);
      }
      expect(longest()).toBeLessThan(LONGEST_MS);
      expect((await weir.root.api("GET", "/api/user/self")).body.success).toBe(true);
    }, 90_000);

    test("CVE-2025-45809: SQL, arrays and objects in ids, filters and searches are refused or find nothing", async () => {
      const people = (await weir.db.q.select().from(weir.db.t.users)).length;
      const paths = [
        "/api/channel/search?keyword=",
        "/api/channel/search?keyword=x&group=",
        "/api/channel/?p=",
        "/api/channel/?id_sort=",
        "/api/channel/",
        "/api/user/search?keyword=",
        "/api/user/search?group=",
        "/api/user/",
        "/api/token/search?keyword=",
        "/api/token/search?keyword=&token=",
        "/api/token/",
        "/api/redemption/search?keyword=",
        "/api/log/?p=1&username=",
        "/api/log/?p=1&model_name=",
        "/api/log/?p=1&token_name=",
        "/api/log/?p=1&type=",
        "/api/log/?p=1&start_timestamp=",
        "/api/log/search?keyword=",
        "/api/log/stat?group=",
        "/api/data/?username=",
        "/api/data/?start_timestamp=",
        "/api/user/topup?keyword=",
      ];
      const { time, longest } = stopwatch();
      for (const path of paths) {
        for (const text of SQL) {
          const answer = await time(weir.root.api("GET", path + encodeURIComponent(text)));
          expect([path, text, answer.status < 500]).toEqual([path, text, true]);
          expect(JSON.stringify(answer.body)).not.toMatch(
            /\$2[aby]\$|\$argon2|syntax error|SQLITE|sqlite3|PostgresError/i,
          );
        }
      }
      for (const odd of [["1", "2"], { $gt: 0 }, { id: 1 }, [[]], true]) {
        for (const [method, path] of [
          ["PUT", "/api/channel/"],
          ["PUT", "/api/token/"],
          ["PUT", "/api/user/"],
          ["PUT", "/api/redemption/"],
          ["POST", "/api/user/manage"],
        ] as const) {
          const answer = await weir.root.api(method, path, {
            id: odd,
            username: odd,
            name: odd,
            key: odd,
            keyword: odd,
            action: "delete",
          });
          expect([path, answer.status < 500, answer.body.success]).toEqual([path, true, false]);
        }
      }
      for (const ids of [SQL, [["1"]], { $gt: 0 }, "1 OR 1=1", [{ id: 1 }]])
        expect((await weir.root.api("POST", "/api/channel/batch", { ids })).body.success).toBe(false);
      expect(longest()).toBeLessThan(LONGEST_MS);
      expect((await weir.db.q.select().from(weir.db.t.users)).length).toBe(people);
    }, 120_000);

    test("Dify CVE-2026-61461: what is stored with quotes comes back with quotes, and nothing else changes", async () => {
      for (const text of SQL) {
        const name = text.slice(0, 40);
        const { id } = await user.ok<{ id: number }>("POST", "/api/token/", {
          name,
          unlimited_quota: true,
          expired_time: -1,
        });
        expect((await user.ok<{ name: string }>("GET", `/api/token/${id}`)).name).toBe(name.trim());
      }
      expect(await weir.audit()).toEqual([]);
    }, 30_000);

    test("new-api CVE-2026-25591: two hundred wildcards are literal characters or refused, and are answered at once", async () => {
      const text = "%_".repeat(200);
      const { time, longest } = stopwatch();
      for (const path of [
        "/api/token/search?keyword=",
        "/api/user/search?keyword=",
        "/api/channel/search?keyword=",
        "/api/log/search?keyword=",
        "/api/log/self/search?keyword=",
        "/api/redemption/search?keyword=",
        "/api/log/?p=1&model_name=",
      ]) {
        for (const wild of [text, "%", "_", "%%", "\\%", "[a-z]*", ".*"]) {
          const { status, body } = await time(weir.root.api("GET", path + encodeURIComponent(wild)));
          const found = Array.isArray(body.data)
            ? body.data
            : ((body.data as { items?: unknown[] } | undefined)?.items ?? []);
          expect([path, wild, status < 500, found.length]).toEqual([path, wild, true, 0]);
        }
      }
      expect(longest()).toBeLessThan(LONGEST_MS);
    }, 40_000);
  });
}

describe("templates and commands", () => {
  let weir: Weir;
  const TEMPLATES = [
    "{{7*7}}",
    "${7*7}",
    "<%= 7*7 %>",
    "#{7*7}",
    "{%print(7*7)%}",
    "*{7*7}",
    "@(7*7)",
    "{{constructor.constructor('return 7*7')()}}",
  ];
  beforeAll(async () => {
    weir = await startWeir();
  }, HOOK_MS);
  afterAll(async () => {
    await weir?.stop();
    upstream.close();
  });

  test("CVE-2024-2952: a template in a notice, a name, a link, a mapping or a header is shown as it was written", async () => {
    for (const text of TEMPLATES) {
      for (const key of ["Notice", "About", "HomePageContent", "Footer", "SystemName", "TopUpLink"])
        await weir.setOption(key, key === "TopUpLink" ? `https://x.example/${text}` : text);
      await weir.setOption("Chats", [{ [text]: `https://chat.example/?k={key}&t=${text}` }]);
      const shown = [
        await weir.anonymous("GET", "/api/notice"),
        await weir.anonymous("GET", "/api/about"),
        await weir.anonymous("GET", "/api/home_page_content"),
        await weir.anonymous("GET", "/api/status"),
      ].map(({ body }) => JSON.stringify(body));
      expect(shown[0]).toContain(JSON.stringify(text).slice(1, -1));
      expect(shown.join(" ")).not.toMatch(/[^0-9]49[^0-9.]/);
      expect(await (await fetch(`${weir.url}/`)).text()).not.toContain(">49<");
      const id = await weir.newChannel({
        base_url: upstream.url,
        models: [`echo`, text],
        model_mapping: JSON.stringify({ [text]: "echo" }),
        header_override: JSON.stringify({ "x-template": text }),
        param_override: JSON.stringify({ user: text }),
      });
      await weir.priceModels({ echo: 1, [text]: 1 });
      const { key } = await weir.newToken();
      upstream.journal.clear();
      await (await weir.call(key, { model: text, messages: [{ role: "user", content: text }] })).text();
      const entry = upstream.journal.last();
      expect(JSON.parse(entry.body)).toMatchObject({ user: text, messages: [{ content: text }] });
      expect(entry.headers["x-template"]).toBe(text);
      await weir.root.ok("DELETE", `/api/channel/${id}`);
    }
  }, 60_000);

  test("CVE-2026-30623: no value of any setting starts a program", async () => {
    const mark = `${weir.dataDir}/started`;
    const { items } = { items: await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/") };
    for (const command of [
      `; touch ${mark}`,
      `$(touch ${mark})`,
      `\`touch ${mark}\``,
      `| touch ${mark}`,
      JSON.stringify({ command: "touch", args: [mark] }),
    ]) {
      for (const { key } of items) {
        // Must stay unchanged for the next call to be accepted.
        if (["PasswordLoginEnabled"].includes(key)) continue;
        await weir.root.api("PUT", "/api/option/", { key, value: command });
      }
      await weir.root.api("POST", "/api/channel/", {
        type: 1,
        name: command,
        key: command,
        base_url: upstream.url,
        models: "echo",
        other: command,
        group: "default",
      });
    }
    await weir.anonymous("GET", "/api/status");
    expect(await Bun.file(mark).exists()).toBe(false);
  }, 60_000);

  test("CVE-2026-40217: nothing in the server evaluates text as a program", async () => {
    const found: string[] = [];
    for (const path of new Bun.Glob("src/{server,shared}/**/*.ts").scanSync({ cwd: `${import.meta.dir}/../..` })) {
      if (/\.test\.ts$/.test(path)) continue;
      const source = await Bun.file(`${import.meta.dir}/../../${path}`).text();
      if (/\beval\s*\(|new Function\s*\(|node:vm|from "vm"|child_process|Bun\.spawn|Bun\.\$/.test(source))
        found.push(path);
    }
    // The one place that starts a program starts Weir itself, by its own name.
    expect(found.filter((path) => !/\/(reexec|workers|commands\/\w+)\.ts$/.test(path))).toEqual([]);
  });
});
