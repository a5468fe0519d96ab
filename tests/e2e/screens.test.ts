/** Every screen of the console, in both languages and themes, on desktop and phone: axe finds nothing, nothing overflows. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConsolePage, type Language, launchBrowser, type TestBrowser, type Theme } from "../kit/browser";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
let browser: TestBrowser;
let weir: Weir;

/** Paths that a stranger sees, and those of a signed-in root account. */
const PUBLIC = ["/", "/login", "/register", "/reset", "/user/reset?email=a@b.example&token=x", "/no-such-page"];
const CLOSED = ["/", "/channel", "/channel/add", "/channel/edit/1", "/token", "/log", "/log?open=1", "/detail", "/setting?tab=personal", "/no-such-page"];
const LOOKS: [Language, Theme, "desktop" | "phone"][] = [
  ["zh", "light", "desktop"], ["zh", "dark", "phone"], ["en", "dark", "desktop"], ["en", "light", "phone"],
];

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o", "error-500"], tag: "tagged" });
  await weir.newChannel({ name: "second with a rather long name 企业版渠道", base_url: upstream.url, models: ["gpt-4o-mini"], status: 2 });
  await weir.priceModels({ "gpt-4o": 1.25, "gpt-4o-mini": 0.075, "error-500": 1 });
  const { key } = await weir.newToken({ name: "laptop" });
  await weir.newToken({ name: "expired", expired_time: 1_600_000_000 });
  for (const model of ["gpt-4o", "gpt-4o-mini", "error-500"]) {
    await (await weir.call(key, { model, messages: [{ role: "user", content: "hello" }] })).text();
  }
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
  upstream.close();
});

for (const [language, theme, viewport] of LOOKS) {
  for (const [who, paths] of [["a stranger", PUBLIC], ["the root account", CLOSED]] as const) {
    describe(`${language}, ${theme}, ${viewport}`, () => {
      // One window for all paths: a new one would load and compile the console anew for each.
      let tab: ConsolePage;
      beforeAll(async () => {
        tab = await browser.open(`${weir.url}/about`, { language, theme, viewport, as: who === "a stranger" ? undefined : weir.root });
      }, 60_000);
      afterAll(() => tab?.close());

      for (const path of paths) {
        test(`${path} as ${who} has no axe violation, no console error and no sideways scrolling`, async () => {
          try {
            await tab.page.goto(weir.url + path);
            await tab.page.locator("main").first().waitFor();
            await tab.settled();
            expect(await tab.page.evaluate(() => document.documentElement.lang)).toStartWith(language);
            expect(await tab.page.evaluate(() => document.documentElement.dataset["theme"])).toBe(theme);
            await tab.looksRight();
            tab.check();
          } catch (error) {
            await tab.screenshot(`screen-${language}-${theme}-${viewport}-${path.replace(/\W+/g, "_")}-${who.replace(" ", "_")}`);
            throw error;
          }
        });
      }
    });
  }
}
