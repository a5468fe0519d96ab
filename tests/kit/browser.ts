/**
 * A real Chromium for end-to-end tests. Each page watches its console: an uncaught error, a violation of the content
 * security policy or a failed request that the test did not announce makes `check()` throw.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { buildClient } from "../../scripts/build-client";
import { findChromium, HOW_TO_GET_CHROMIUM } from "../../scripts/chromium";
import type { Session } from "./weir";

export type Language = "zh" | "en";
export type Theme = "light" | "dark";

export interface PageOptions {
  language?: Language;
  theme?: Theme;
  /** Default 1440 x 900; `phone` is 390 x 844 with touch. */
  viewport?: "desktop" | "phone";
  /** Signed in as this user from the start. */
  as?: Session;
}

export interface ConsolePage {
  page: Page;
  context: BrowserContext;
  /** Problems that are expected from now on: texts that contain one of these are not counted. */
  expectProblem(part: string): void;
  /** Throws with everything that went wrong in the page so far. */
  check(): void;
  /** Every rule of axe on what is shown now; throws with each violation and its elements. */
  axe(): Promise<void>;
  /** Saved to tests/.artifacts/<name>.png. */
  screenshot(name: string): Promise<void>;
}

export interface TestBrowser {
  open(url: string, options?: PageOptions): Promise<ConsolePage>;
  close(): Promise<void>;
}

const ROOT = join(import.meta.dir, "../..");
const ARTIFACTS = join(import.meta.dir, "../.artifacts");
/** What the console is built from. */
const SOURCES = ["src/client", "src/shared", "locales", "scripts/plugins"];
const VIEWPORTS = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/** Builds the console into dist/client unless what is there is newer than every source of it. */
export async function builtConsole(): Promise<void> {
  const built = join(ROOT, "dist/client/index.html");
  if (existsSync(built)) {
    const time = statSync(built).mtimeMs;
    const sources = SOURCES.flatMap((folder) => [...new Bun.Glob("**/*.*").scanSync({ cwd: join(ROOT, folder), absolute: true })]);
    if (sources.every((file) => statSync(file).mtimeMs <= time)) return;
  }
  await buildClient();
}

/** Starts Chromium and makes sure that the console is built. Throws, saying how to get one, when there is no Chromium. */
export async function launchBrowser(): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(`No Chromium was found. ${HOW_TO_GET_CHROMIUM}`);
  await builtConsole();
  // Containers and root accounts have no user namespaces for the sandbox; only our own pages are opened.
  const browser: Browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return {
    open: (url, options) => openPage(browser, url, options),
    close: () => browser.close(),
  };
}

async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<ConsolePage> {
  const { language = "zh", theme = "light", viewport = "desktop", as } = options;
  const phone = viewport === "phone";
  const context = await browser.newContext({
    viewport: VIEWPORTS[viewport],
    hasTouch: phone,
    isMobile: phone,
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: language === "zh" ? "zh-CN" : "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(10_000);
  const { origin } = new URL(url);
  const user = as && (await as.ok<{ id: number }>("GET", "/api/user/self"));
  await context.addInitScript(
    ({ language, theme, user }) => {
      if (localStorage.getItem("language") === null) localStorage.setItem("language", language);
      if (localStorage.getItem("theme") === null) localStorage.setItem("theme", theme);
      if (user && localStorage.getItem("user") === null) localStorage.setItem("user", JSON.stringify(user));
    },
    { language, theme, user },
  );
  if (as) {
    const [name = "", value = ""] = as.cookie.split("=");
    await context.addCookies([{ name, value, url: origin }]);
  }

  const page = await context.newPage();
  const problems: string[] = [];
  const expected: string[] = [];
  page.on("pageerror", (error) => problems.push(`uncaught: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // A page that is left, and a poll that is replaced, abort their requests.
    if (why !== "net::ERR_ABORTED") problems.push(`request: ${request.method()} ${request.url()} ${why}`);
  });
  await page.goto(url);

  return {
    page,
    context,
    expectProblem: (part) => expected.push(part),
    check: () => {
      const left = problems.filter((problem) => !expected.some((part) => problem.includes(part)));
      if (left.length > 0) throw new Error(`The page had ${left.length} problems:\n${left.join("\n")}`);
    },
    axe: async () => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      if (violations.length === 0) return;
      const lines = violations.flatMap(({ id, help, nodes }) => [
        `${id}: ${help}`,
        ...nodes.map((node) => `  ${node.target.join(" ")}  ${node.html.slice(0, 200)}`),
      ]);
      throw new Error(`axe on ${page.url()} (${language}, ${theme}, ${viewport}):\n${lines.join("\n")}`);
    },
    screenshot: async (name) => {
      mkdirSync(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
    },
  };
}
