/**
 * Root sets the price of a model that channels serve without one; both languages, both themes, and no violation found
 * by axe.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { type } from "../kit/typing";
import { startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(TEST_LIMIT);

let browser: TestBrowser;
let weir: Weir;

beforeAll(async () => {
  browser = await launchBrowser();
  weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
  // Never called: only its models and prices matter.
  await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["gpt-4o", "brand-new-model"], group: "default" });
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

test("an unpriced model is found, priced in dollars and then sold at that price", async () => {
  const tab = await browser.open(`${weir.url}/setting/pricing`, { language: "en", as: weir.root });
  const { page } = tab;
  await page.getByRole("row", { name: /brand-new-model/ }).click();
  const drawer = page.getByRole("dialog");
  await type(drawer.getByLabel("Input", { exact: true }), "3");
  await type(drawer.getByLabel("Output", { exact: true }), "15");
  await drawer.getByRole("button", { name: "Save" }).click();
  await drawer.waitFor({ state: "detached" });
  const { models } = await weir.root.trpc.pricing.catalogue.query();
  expect(models.find(({ model }) => model === "brand-new-model")?.factors).toMatchObject({
    model_ratio: { value: 1.5 },
    completion_ratio: { value: 5 },
  });
  tab.check();
  await tab.close();
}, 60_000);

test("a price feed is added, read, and one of its two changes taken", async () => {
  await using other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ data: { model_ratio: { "gpt-4o": 1.5, "o3-mini": 9 } } }),
  });
  const tab = await browser.open(`${weir.url}/setting/pricing?tab=feeds`, { language: "en", as: weir.root });
  const { page } = tab;
  await page.getByRole("button", { name: "Add a feed" }).click();
  const form = page.getByRole("form", { name: "Add a feed" });
  await type(form.getByLabel("Name"), "partner");
  await type(form.getByLabel("Address"), `http://127.0.0.1:${other.port}/`);
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Read now" }).click();
  await page.getByRole("checkbox", { name: "gpt-4o" }).click();
  await page.getByText("partner: 2 differences, 1 selected").waitFor();
  await page.getByRole("button", { name: "Take the selected, refuse the rest" }).click();
  await page.getByText("Decided changes").waitFor();
  const { models } = await weir.root.trpc.pricing.catalogue.query();
  expect(models.find(({ model }) => model === "gpt-4o")?.factors).toMatchObject({ model_ratio: { value: 1.5 } });
  await tab.looksRight();
  tab.check();
  await tab.close();
}, 60_000);

test("a virtual model is made of two steps, saved and offered to callers", async () => {
  const tab = await browser.open(`${weir.url}/setting/pricing?tab=virtual`, { language: "en", as: weir.root });
  const { page } = tab;
  await type(page.getByLabel("Name", { exact: true }), "smart");
  for (const [place, model] of [
    [1, "gpt-4o"],
    [2, "brand-new-model"],
  ] as const) {
    if (place === 2) await page.getByRole("button", { name: "Add step" }).click();
    const step = page.getByRole("listitem", { name: `Step ${place}`, exact: true });
    await step.getByLabel("Model", { exact: false }).first().click();
    await page.getByRole("option", { name: model, exact: true }).click();
  }
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("group", { name: "smart" }).waitFor();
  const { models } = await weir.root.trpc.pricing.catalogue.query();
  expect(models.find(({ model }) => model === "smart")?.steps).toEqual([
    { model: "gpt-4o" },
    { model: "brand-new-model" },
  ]);
  tab.check();
  await tab.close();
}, 60_000);

test("every tab passes axe, in both languages and themes", async () => {
  const looks = [
    ["", "zh", "light"],
    ["?tab=json", "en", "dark"],
    ["?tab=virtual&virtual=smart", "en", "dark"],
    ["?tab=virtual", "zh", "light"],
    ["?tab=import", "zh", "dark"],
    ["?tab=why&model=gemini-2.5-pro", "en", "light"],
    ["?edit=gpt-4o", "en", "dark"],
  ] as const;
  for (const [search, language, theme] of looks) {
    const tab = await browser.open(`${weir.url}/setting/pricing${search}`, { language, theme, as: weir.root });
    await tab.page.getByRole(search.includes("edit") ? "dialog" : "tabpanel").waitFor();
    await tab.axe();
    tab.check();
    await tab.close();
  }
}, 120_000);
