/**
 * Every screen of the console, in both languages and themes, on desktop and phone: axe finds nothing, nothing
 * overflows; so on every drawer, dialog and menu.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { TaskRow } from "../../src/server/db/schema";
import type { Done } from "../../src/server/features/import/done";
import type { Plan } from "../../src/server/features/import/plan";
import {
  type ConsolePage,
  type Language,
  launchBrowser,
  TEST_LIMIT,
  type TestBrowser,
  type Theme,
} from "../kit/browser";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";
import { type Layer, LAYERS, openLayer } from "./layers";

setDefaultTimeout(TEST_LIMIT);

const upstream = startFakeUpstream();
const rows = { charge: 0, error: 0, user: 0 };
let browser: TestBrowser;
let weir: Weir;

/** Paths for anonymous visitors, and those for a signed-in root account. */
const PUBLIC = [
  "/",
  "/login",
  "/register",
  "/reset",
  "/user/reset?email=a@b.example&token=x",
  "/oauth/github",
  "/no-such-page",
];
const CLOSED = [
  "/",
  "/about",
  "/channel",
  "/channel/add",
  "/channel/edit/1",
  "/token",
  "/log",
  "/log?open=1",
  "/detail",
  "/topup",
  "/user",
  "/audit",
  "/setting?tab=personal",
  "/setting?tab=operation",
  "/setting?tab=system",
  "/setting?tab=alert",
  "/setting?tab=other",
  "/incident",
  "/incident?open=1",
  "/instance",
  "/midjourney",
  "/task",
  "/task?open=1",
  "/no-such-page",
];
/**
 * Two opposite combinations per pair: each path is checked in one pair, so in both languages, both themes and both
 * sizes, with two runs instead of eight.
 */
const PAIRS: [Language, Theme, "desktop" | "phone"][][] = [
  [
    ["zh", "light", "desktop"],
    ["en", "dark", "phone"],
  ],
  [
    ["zh", "dark", "phone"],
    ["en", "light", "desktop"],
  ],
];

/** At 200 % zoom and on the smallest phones (WCAG 1.4.10) nothing scrolls sideways; wide, no badge of a list is cut. */
async function expectNarrowFit({ page }: ConsolePage): Promise<void> {
  const cut = await page.evaluate(() =>
    [...document.querySelectorAll("td [data-badge]")]
      .filter((badge) => {
        const right = badge.closest("td")?.getBoundingClientRect().right ?? 0;
        const isOutside = badge.getBoundingClientRect().right > right + 1;
        return isOutside || [...badge.children].some((part) => part.scrollWidth > part.clientWidth + 1);
      })
      .map((badge) => badge.textContent),
  );
  expect(cut).toEqual([]);
  for (const width of [720, 320]) {
    await page.setViewportSize({ width, height: 450 });
    const over = await page.evaluate(async () => {
      // Observers of sizes render once more.
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      return document.documentElement.scrollWidth - innerWidth;
    });
    expect([width, over]).toEqual([width, 0]);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Each layer is checked in one look: their colours are those of the pages. */
function layersOfLook(...look: [Language, Theme, string]): readonly Layer[] {
  return LAYERS.filter((layer, i) => {
    const looks = PAIRS.flat().filter(([, , viewport]) => viewport === "desktop" || !layer.wide);
    return looks[i % looks.length]?.join() === look.join();
  });
}

const NOW = Math.floor(Date.now() / 1000) * 1000 - 90_000;
const job = (fields: Pick<TaskRow, "task_id" | "status"> & Partial<TaskRow>) => ({
  platform: "suno",
  action: "MUSIC",
  model: "suno_music",
  user_id: 1,
  username: "root",
  channel_id: 1,
  submit_time_ms: NOW,
  finish_time_ms: NOW + 75_000,
  ...fields,
});

/** An import that took one user. */
const PLAN: Plan = {
  system: "new-api",
  recognised: "new-api",
  engine: "sqlite",
  source: "new-api",
  tables: [],
  other: [],
  channels: [],
  prices: [],
  unpriced: ["model-without-a-price"],
  shadow: { calls: 0, old: 0, now: 0, unpriced: 0, models: [] },
  balances: { users: 1, old: 5, now: 5, debts: 0, left: 0 },
  options: { taken: [], left: [], differs: [] },
  decisions: [],
  notes: [],
};
const DONE: Done = {
  users: { users: 1, tokens: 0, changed: 0, unchanged: 0 },
  channels: 0,
  codes: 0,
  logs: { read: 0, kept: 0, left: {} },
  options: {},
  moved: false,
  finished: true,
};

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o", "error-500"], tag: "tagged" });
  await weir.newChannel({
    name: "second with a rather long name 企业版渠道",
    base_url: upstream.url,
    models: ["gpt-4o-mini"],
    status: 2,
  });
  // What only an operator can repair.
  const broken = await weir.newChannel({ name: "broken", base_url: upstream.url, models: ["gpt-4o"], status: 2 });
  const { channels, reports } = weir.db.t;
  await weir.db.q.update(channels).set({ model_mapping: "{" }).where(eq(channels.id, broken)).returning();
  await weir.db.q.insert(reports).values({
    kind: "import",
    title: "new-api:0123456789abcdef0123456789abcdef",
    created_at: NOW / 1000,
    data: Buffer.from(Bun.gzipSync(JSON.stringify({ plan: PLAN, done: DONE }))).toString("base64"),
  });
  await weir.setOption("WeChatServerAddress", upstream.url);
  await weir.setOption("WeChatServerToken", "secret");
  await weir.setOption("WeChatAuthEnabled", true);
  await weir.priceModels({ "gpt-4o": 1.25, "gpt-4o-mini": 0.075, "error-500": 1 });
  const { key } = await weir.newToken({ name: "laptop" });
  await weir.newToken({ name: "expired", expired_time: 1_600_000_000 });
  for (const model of ["gpt-4o", "gpt-4o-mini", "error-500"]) {
    await (await weir.call(key, { model, messages: [{ role: "user", content: "hello" }] })).text();
  }
  // Another's calls: one's own are not refunded.
  const user = await weir.newUser({ quota: 5_000_000 });
  const { key: hers } = await weir.newToken({ name: "hers" }, user);
  for (const model of ["gpt-4o", "error-500"]) {
    await (await weir.call(hers, { model, messages: [{ role: "user", content: "hello" }] })).text();
  }
  rows.user = user.id;
  rows.charge = (await weir.waitForLog(({ user_id, quota }) => user_id === user.id && quota > 0)).id;
  rows.error = (await weir.waitForLog(({ user_id, code }) => user_id === user.id && code.startsWith("failure."))).id;
  await weir.db.q.update(weir.db.t.users).set({ aff_quota: 2_000_000 }).returning();
  const rule = { rule: "channel-errors", opened_at: NOW / 1000, last_at: NOW / 1000, code: "errors_share" };
  const params = { name: "企业版渠道 with a long name", percent: 35.5, calls: 200, errors: 71, minutes: 5 };
  await weir.db.q.insert(weir.db.t.incidents).values([
    { ...rule, subject: "channel:1", params: JSON.stringify(params) },
    { ...rule, subject: "", severity: "critical", closed_at: NOW / 1000, params: JSON.stringify(params) },
  ]);
  await weir.db.q.insert(weir.db.t.tasks).values([
    job({
      task_id: "task_1",
      status: "FAILURE",
      progress: "100%",
      fail_reason: "上游拒绝了这个提示词 (content policy)",
      prompt: "夏夜的风 a song for the summer",
    }),
    job({
      task_id: "task_2",
      platform: "kling",
      action: "textGenerate",
      model: "kling-v2",
      status: "IN_PROGRESS",
      progress: "45%",
      finish_time_ms: 0,
    }),
    job({ task_id: "task_3", status: "SUCCESS", progress: "100%", finish_time_ms: NOW + 30_000 }),
    job({
      task_id: "1320098173412546",
      platform: "mj",
      action: "IMAGINE",
      model: "mj_imagine",
      status: "MODAL",
      progress: "0%",
      prompt: "一只猫，水彩 ".repeat(20),
    }),
  ]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream.close();
});

for (const [language, theme, viewport, pair] of PAIRS.flatMap((pair, i) => pair.map((look) => [...look, i] as const))) {
  for (const [who, all] of [
    ["a stranger", PUBLIC],
    ["the root account", CLOSED],
  ] as const) {
    const paths = all.filter((_, i) => i % PAIRS.length === pair);
    describe(`${language}, ${theme}, ${viewport}`, () => {
      // One window for all paths: a new one would load and compile the console again for each.
      let tab: ConsolePage;
      beforeAll(async () => {
        tab = await browser.open(`${weir.url}/about`, {
          language,
          theme,
          viewport,
          as: who === "a stranger" ? undefined : weir.root,
        });
      }, 60_000);
      afterAll(() => tab?.close());

      for (const layer of who === "the root account" ? layersOfLook(language, theme, viewport) : []) {
        const name = [layer.path, layer.keys, ...(layer.presses ?? [])].filter(Boolean).join(", ");
        test(`${name} has no axe violation, no console error and no sideways scrolling`, async () => {
          await openLayer(tab.page, weir.url, language, layer, rows);
          // The page below it has its own test.
          const opened = '[role="dialog"], [role="alertdialog"], [role="menu"]';
          if (!layer.inline) await tab.page.locator(opened).first().waitFor();
          await tab.looksRight(layer.inline ? undefined : opened);
          tab.check();
        });
      }

      for (const path of paths) {
        test(`${path} as ${who} has no axe violation, no console error and no sideways scrolling`, async () => {
          try {
            // A callback with an unknown state is refused, and that is the screen to check.
            if (path.startsWith("/oauth/")) tab.expectProblem("/trpc/identity.finish");
            await tab.page.goto(weir.url + path);
            await tab.page.locator("main").first().waitFor();
            await tab.settled();
            expect(await tab.page.evaluate(() => document.documentElement.lang)).toStartWith(language);
            expect(await tab.page.evaluate(() => document.documentElement.dataset["theme"])).toBe(theme);
            if (language === "en" && /^\/(login|register|reset|user|setting)/.test(path)) {
              // spec: A-046
              expect(await tab.page.locator("body").innerText()).not.toMatch(/[一-鿿]/);
            }
            await tab.looksRight();
            if (viewport === "desktop") await expectNarrowFit(tab);
            tab.check();
          } catch (error) {
            await tab.screenshot(
              `screen-${language}-${theme}-${viewport}-${path.replace(/\W+/g, "_")}-${who.replace(" ", "_")}`,
            );
            throw error;
          }
        });
      }
    });
  }
}
