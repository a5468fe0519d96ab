/**
 * `npm run pictures`: takes the pictures of README and docs, of the real console with the data of `npm run seed demo`,
 * into docs/images. Needs Chromium; nothing else is running or left behind.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type Language, launchBrowser, type Theme } from "../tests/kit/browser";
import { startProcess } from "../tests/kit/weir-process";

interface Picture {
  /** File in docs/images. */
  name: string;
  path: string;
  language: Language;
  theme: Theme;
  /** Before the picture is taken. */
  act?: (page: Page) => Promise<unknown>;
}

/** By its time: most of its other cells are links. */
const openFirstRow = (page: Page) =>
  page
    .locator("[data-row]")
    .first()
    .click({ position: { x: 40, y: 16 } });

const PICTURES: readonly Picture[] = [
  { name: "log-en", path: "/log?type=2", language: "en", theme: "light", act: openFirstRow },
  { name: "log-zh", path: "/log?type=2", language: "zh", theme: "dark", act: openFirstRow },
  { name: "channels-en", path: "/channel", language: "en", theme: "light" },
  { name: "channel-form-en", path: "/channel/edit/1", language: "en", theme: "light" },
  { name: "tokens-zh", path: "/token", language: "zh", theme: "light" },
  { name: "dashboard-en", path: "/detail", language: "en", theme: "light" },
  { name: "dashboard-zh", path: "/detail", language: "zh", theme: "dark" },
  { name: "pricing-en", path: "/pricing", language: "en", theme: "light" },
  { name: "wallet-zh", path: "/topup", language: "zh", theme: "light" },
  { name: "tasks-en", path: "/task", language: "en", theme: "light" },
  { name: "drawing-zh", path: "/midjourney", language: "zh", theme: "dark" },
];

const root = join(import.meta.dir, "..");
const folder = mkdtempSync(join(tmpdir(), "weir-pictures-"));
const account = { username: "root", password: crypto.randomUUID().slice(0, 18) };
const env = {
  WEIR_ROOT_USERNAME: account.username,
  WEIR_ROOT_PASSWORD: account.password,
  WEIR_DATA_DIR: folder,
  PORT: "0",
  WEIR_HOST: "127.0.0.1",
  WEIR_API_RATE_LIMIT: "0",
  WEIR_CRITICAL_RATE_LIMIT: "0",
};
try {
  const seeded = Bun.spawnSync([process.execPath, join(import.meta.dir, "seed.ts"), "demo"], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (seeded.exitCode !== 0) throw new Error("the demo data could not be made");
  const browser = await launchBrowser();
  const weir = await startProcess(undefined, env);
  try {
    for (const { name, path, language, theme, act } of PICTURES) {
      const tab = await browser.open(`${weir.url}/login`, { language, theme });
      const { page } = tab;
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.locator("input[name=username]").fill(account.username);
      await page.locator("input[name=password]").fill(account.password);
      await page.keyboard.press("Enter");
      await page.waitForURL("**/token");
      await page.goto(weir.url + path);
      await tab.settled();
      if (act) {
        await act(page);
        await tab.settled();
      }
      await page.screenshot({ path: join(root, "docs/images", `${name}.png`) });
      await tab.close();
      console.log(`docs/images/${name}.png`);
    }
  } finally {
    await browser.close();
    await weir.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
