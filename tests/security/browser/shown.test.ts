/**
 * Everything shown is text, not a program: operators' texts, models' answers, names. In a real Chromium, with every
 * text of kit/hostile-texts.ts (docs/security.md).
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { Page } from "playwright-core";
import { type ConsolePage, launchBrowser, TEST_LIMIT, type TestBrowser } from "../../kit/browser";
import { startFakeUpstream } from "../../kit/fake-upstream/server";
import { HOSTILE_TEXTS } from "../../kit/hostile-texts";
import { paste } from "../../kit/typing";
import { startWeir, type Weir } from "../../kit/weir";

setDefaultTimeout(TEST_LIMIT);

let browser: TestBrowser;
let weir: Weir;
const upstream = startFakeUpstream();

/** The forbidden effects of a page. */
let dialogs: string[] = [];
let foreign: string[] = [];
let trying = "";

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  await weir.priceModels({ echo: 1 });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream.close();
});
beforeEach(() => {
  dialogs = [];
  foreign = [];
  trying = "";
});

function watch(tab: ConsolePage): Page {
  tab.page.on("dialog", (dialog) => {
    dialogs.push(`${trying}: ${dialog.message()}`);
    void dialog.dismiss();
  });
  tab.context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${weir.url}/`) && !url.startsWith("data:") && !url.startsWith("blob:"))
      foreign.push(`${trying}: ${url}`);
  });
  return tab.page;
}

/** Clicks every link that stays in this tab: its target must be on this server. */
async function pressLinks(tab: ConsolePage, where: string): Promise<void> {
  const links = await tab.page.locator(`${where} a:not([target])`).all();
  for (const link of links) await link.click({ timeout: 500 }).catch(() => undefined);
  // The target of a link loads late.
  if (links.length > 0) await tab.settled();
  expect(`${trying}: ${new URL(tab.page.url()).origin}`).toBe(`${trying}: ${weir.url}`);
}

function expectHarmless(): void {
  expect(dialogs).toEqual([]);
  expect(foreign).toEqual([]);
}

test("new-api CVE-2025-55573: none of the operator's texts opens a dialog, asks another server, or leads away", async () => {
  const tab = await browser.open(weir.url);
  const page = watch(tab);
  // Three at a time, each in its own place; one component shows all three (rich-text.test.tsx tests every text in it).
  const places = ["About", "Notice", "Footer"] as const;
  for (let i = 0; i < HOSTILE_TEXTS.length; i += places.length) {
    const tried = HOSTILE_TEXTS.slice(i, i + places.length);
    trying = tried.map(([name]) => name).join(", ");
    for (const [at, option] of places.entries()) await weir.setOption(option, tried[at]?.[1] ?? "");
    await page.goto(`${weir.url}/about`);
    await page.locator("main .content").waitFor({ state: "attached" });
    await page.getByTestId("content-loading").first().waitFor({ state: "detached" });
    // A script or a fetch would run at once.
    await tab.settled();
    await pressLinks(tab, ".content");
  }
  expectHarmless();
  for (const option of ["About", "Notice", "Footer"]) await weir.setOption(option, "");
  await tab.close();
}, 120_000);

test("Open WebUI CVE-2026-109288: a model that answers with every hostile text runs and fetches nothing, in the playground and in the log", async () => {
  const user = await weir.newUser({ quota: 50_000_000 });
  const tab = await browser.open(`${weir.url}/playground`, { as: user });
  const page = watch(tab);
  await page.getByRole("combobox", { name: "模型", exact: true }).getByText("echo").waitFor();
  // Each text is its own paragraph, so that a malformed one does not hide the next.
  for (const part of [HOSTILE_TEXTS.slice(0, 20), HOSTILE_TEXTS.slice(20)]) {
    trying = part[0]?.[0] ?? "";
    const before = await page.locator("article[data-state=complete]").count();
    await paste(page.getByLabel("消息", { exact: true }), part.map(([, text]) => text).join("\n\n"));
    await page.getByRole("button", { name: "发送" }).click();
    await page.locator("article[data-state=complete]").nth(before).waitFor();
    await tab.settled();
  }
  const odd = await page
    .getByRole("article")
    .evaluateAll((articles) =>
      articles.flatMap((article) => [
        ...[
          ...article.querySelectorAll(
            "script, iframe, object, embed, form, style, math, link, meta, base, svg use, svg animate",
          ),
        ].map((element) => element.tagName),
        ...[...article.querySelectorAll("*")]
          .filter((item) => [...item.attributes].some(({ name }) => name.startsWith("on")))
          .map((element) => element.outerHTML.slice(0, 80)),
        ...[...article.querySelectorAll("a[href]")]
          .map((link) => link.getAttribute("href") ?? "")
          .filter((href) => !/^(https?:\/\/|\/log\?|mailto:)/.test(href)),
      ]),
    );
  expect(odd).toEqual([]);
  expectHarmless();
  await tab.close();
}, 120_000);

test("Open WebUI CVE-2026-56398: a picture that is an SVG with a script, as logo or address, runs nothing", async () => {
  const svg =
    "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'><script>alert(1)</script></svg>";
  const tab = await browser.open(weir.url);
  const page = watch(tab);
  for (const logo of [
    svg,
    "javascript:alert(1)",
    '" onerror="alert(1)',
    "data:text/html,<script>alert(1)</script>",
    "/%22%20onerror=%22alert(1)",
  ]) {
    trying = logo;
    // A logo that is not an image is refused; an accepted one must be harmless.
    await weir.root.api("PUT", "/api/option/", { key: "Logo", value: logo });
    tab.expectProblem("");
    await page.goto(`${weir.url}/`);
    await tab.settled();
    expect(await page.locator("[onerror], [onload], img[src^='javascript:']").count()).toBe(0);
  }
  expect(dialogs).toEqual([]);
  await weir.setOption("Logo", "");
  await tab.close();
});

test("stored names: users, tokens, channels and models with names like programs are shown as text", async () => {
  const name = "<img src=x onerror=alert(1)>";
  const script = "</script><svg onload=alert(1)>";
  await weir.newToken({ name });
  await weir.newChannel({
    base_url: upstream.url,
    name,
    models: [script],
    tag: name,
    model_mapping: JSON.stringify({ [script]: "echo" }),
  });
  await weir.priceModels({ echo: 1, [script]: 1 });
  await weir.root.ok("POST", "/api/user/", {
    username: "<b>x</b>",
    password: "correct-horse-9",
    display_name: "<svg onload=alert()>",
  });
  const { key } = await weir.newToken({ name: script });
  await (await weir.call(key, { model: script, messages: [{ role: "user", content: name }] })).text();
  await weir.waitForLog((row) => row.model_name === script);
  await weir.setOption("SystemName", name);
  const tab = await browser.open(`${weir.url}/token`, { as: weir.root });
  const page = watch(tab);
  for (const [path, shown] of [
    ["/token", name],
    ["/channel", name],
    ["/user", "<b>x</b>"],
    ["/log", script],
    ["/pricing", script],
  ] as const) {
    trying = path;
    await page.goto(weir.url + path);
    await page.getByText(shown, { exact: true }).first().waitFor();
    await tab.settled();
  }
  expectHarmless();
  await weir.setOption("SystemName", "Weir");
  await tab.close();
});
