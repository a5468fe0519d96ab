/**
 * Priority and weight in the channel list, edited in place with a real keyboard: the typed number is stored, and
 * anything else is refused with a message (C-083, C-084, C-409, C-410).
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { launchBrowser, TEST_LIMIT, type TestBrowser } from "../../kit/browser";
import { becomes } from "../../kit/browser-wait";
import { required } from "../../kit/required";
import { startWeir, type Weir } from "../../kit/weir";

setDefaultTimeout(TEST_LIMIT);

type Field = "priority" | "weight";
const LABELS: Record<Field, string> = { priority: "优先级", weight: "权重" };

const found = required("chromium") !== undefined;
let weir: Weir;
let browser: TestBrowser;

beforeAll(async () => {
  if (!found) return;
  browser = await launchBrowser();
  weir = await startWeir();
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await weir?.stop();
});

interface Numbers {
  priority: number;
  weight: number;
}

const stored = async (id: number): Promise<Numbers> => {
  const { priority, weight } = await weir.root.trpc.channel.get.query({ id });
  return { priority, weight };
};

/** A fresh channel in a fresh window. `edit` clicks the figure and returns the field of its editor, ready for keys. */
async function withChannel(
  name: string,
  start: Numbers,
  story: (edit: (field: Field) => Promise<Locator>, page: Page, id: number) => Promise<void>,
): Promise<void> {
  const id = await weir.newChannel({ name, base_url: "http://127.0.0.1:9", models: ["gpt-4o-mini"], ...start });
  const opened = await browser.open(`${weir.url}/channel?keyword=${encodeURIComponent(name)}`, { as: weir.root });
  const { page } = opened;
  const edit = async (field: Field): Promise<Locator> => {
    const label = LABELS[field];
    const figure = page
      .locator("[data-row]")
      .filter({ hasText: name })
      .getByRole("button", { name: `修改 ${name} 的${label}` });
    await figure.click();
    const box = page.getByRole("textbox", { name: label });
    // The old figure is selected, so the first key replaces it.
    await becomes(
      () => box.evaluate((element) => String(element === document.activeElement && getSelection()?.toString())),
      String((await stored(id))[field]),
    );
    return box;
  };
  try {
    await story(edit, page, id);
    opened.check();
  } finally {
    await opened.close();
  }
}

describe.skipIf(!found)("the figures of the channel list", () => {
  const TYPED: [field: Field, start: number, keys: string, value: number][] = [
    ["priority", 0, "12", 12],
    ["priority", 7, "250", 250],
    ["priority", 0, "-5", -5],
    ["priority", 100, "-999", -999],
    ["weight", 0, "12", 12],
    ["weight", 3, "250", 250],
    ["weight", 44, "0", 0],
  ];

  test("save exactly the number that was typed key by key, whatever the old value was", async () => {
    for (const [index, [field, start, keys, value]] of TYPED.entries()) {
      const name = `typed-${index}`;
      await withChannel(name, { priority: 0, weight: 0, [field]: start }, async (edit, page, id) => {
        const box = await edit(field);
        await page.keyboard.type(keys);
        expect(`${keys} -> ${await box.inputValue()}`).toBe(`${keys} -> ${keys}`);
        await page.keyboard.press("Enter");
        await page.getByText(`${name} 的${LABELS[field]}已改为 ${value}`).waitFor();
        await becomes(async () => (await stored(id))[field], value);
        await page.getByRole("button", { name: `修改 ${name} 的${LABELS[field]}：${value}` }).waitFor();
      });
    }
  });

  test("keep the caret where the person put it: a digit can be added and taken away in the middle", async () => {
    await withChannel("caret", { priority: 1234, weight: 0 }, async (edit, page, id) => {
      const box = await edit("priority");
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Backspace");
      await page.keyboard.type("56");
      expect(await box.inputValue()).toBe("12564");
      await page.getByRole("button", { name: "保存" }).click();
      await becomes(async () => (await stored(id)).priority, 12_564);
    });
  });

  const REFUSED: [field: Field, keys: string, says: string][] = [
    ["priority", "1.5", "优先级必须是整数！"],
    ["priority", "abc", "优先级必须是整数！"],
    ["priority", "-", "优先级必须是整数！"],
    ["priority", "-1000", "优先级不能小于 -999"],
    ["weight", "1.5", "权重必须是非负整数！"],
    ["weight", "-1", "权重必须是非负整数！"],
  ];

  test("refuse an invalid number, say why, store nothing, and accept the corrected number", async () => {
    await withChannel("refused", { priority: 5, weight: 6 }, async (edit, page, id) => {
      for (const [field, keys, says] of REFUSED) {
        const box = await edit(field);
        await page.keyboard.type(keys);
        await page.keyboard.press("Enter");
        await page.getByRole("alert").getByText(says).waitFor();
        // spec: C-409, C-410
        expect([keys, await box.inputValue(), await box.getAttribute("aria-invalid")]).toEqual([keys, keys, "true"]);
        expect([keys, await stored(id)]).toEqual([keys, { priority: 5, weight: 6 }]);
        await page.keyboard.press("Escape");
        await box.waitFor({ state: "detached" });
      }
      await edit("weight");
      await page.keyboard.press("Delete");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText("权重必须是非负整数！").waitFor();
      await page.keyboard.type("30");
      await page.getByRole("alert").waitFor({ state: "detached" });
      await page.keyboard.press("Enter");
      await becomes(async () => (await stored(id)).weight, 30);
    });
  });
});
