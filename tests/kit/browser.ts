/**
 * A real Chromium for end-to-end tests. Each page watches its console: an uncaught error, a violation of the content
 * security policy or a failed request that the test did not expect makes `check()` throw.
 */
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { buildClient } from "../../scripts/build-client";
import { findChromium, HOW_TO_GET_CHROMIUM } from "../../scripts/chromium";
import { settled, WAIT_LIMIT, watchRequests } from "./browser-wait";
import { withLock } from "./lock";
import type { Session } from "./weir";

/**
 * Limit of one test with a browser in milliseconds; the waits inside have their own. Each file calls
 * `setDefaultTimeout(TEST_LIMIT)` itself: Bun resets it per file, and this module runs once for several.
 */
export const TEST_LIMIT = 60_000;

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
  /** Problems expected from now on: texts that contain one of these are not counted. */
  expectProblem(part: string): void;
  /** Throws with all problems of the page so far. */
  check(): void;
  /** Waits until everything is loaded and drawn. */
  settled(): Promise<void>;
  /** Every rule of axe on the settled page; throws with each violation and its elements. */
  axe(): Promise<void>;
  /** As `axe`, of the page or of what a selector finds, and throws when the page scrolls sideways. */
  looksRight(within?: string): Promise<void>;
  /** Saved to tests/.artifacts/<name>.png. */
  screenshot(name: string): Promise<void>;
  /** Closes its context. A route handler that is still running then does not fail the test. */
  close(): Promise<void>;
}

export interface TestBrowser {
  open(url: string, options?: PageOptions): Promise<ConsolePage>;
  /** An empty browser profile: nothing stored, not signed in, no page yet. */
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

const ROOT = join(import.meta.dir, "../..");
const ARTIFACTS = join(import.meta.dir, "../.artifacts");
/** The sources of the console. */
const SOURCES = ["src/client", "src/shared", "locales", "scripts/plugins"];
const VIEWPORTS = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const;

/**
 * Disabled Chromium features. Only the last switch of a name counts, so Playwright's own list (chromiumSwitches.ts of
 * 1.65) comes first here. Ours are the suggestions below the address bar, which tests never see: they cost two more
 * pages per window, a third of a window's work.
 */
const FEATURES_OFF = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
];

/**
 * Builds the console into dist/client unless what is there is newer than every source of it; once for all processes.
 */
async function builtConsole(): Promise<void> {
  if (isBuilt()) return;
  mkdirSync(join(ROOT, "dist"), { recursive: true });
  await withLock(join(ROOT, "dist/.building"), async () => {
    if (!isBuilt()) await buildClient();
  });
}

function isBuilt(): boolean {
  const built = join(ROOT, "dist/client/index.html");
  if (!existsSync(built)) return false;
  const time = statSync(built).mtimeMs;
  const sources = SOURCES.flatMap((folder) => [
    ...new Bun.Glob("**/*.*").scanSync({ cwd: join(ROOT, folder), absolute: true }),
  ]);
  return sources.every((file) => statSync(file).mtimeMs <= time);
}

/** Starts Chromium and makes sure that the console is built. Throws without a Chromium, and says how to get one. */
export async function launchBrowser(): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error(`No Chromium was found. ${HOW_TO_GET_CHROMIUM}`);
  await builtConsole();
  // Containers and root accounts have no user namespaces for the sandbox; only our own pages are opened.
  const args = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    `--disable-features=${FEATURES_OFF.join()}`,
  ];
  const browser: Browser = await chromium.launch({ executablePath, args });
  return {
    open: (url, options) => openPage(browser, url, options),
    newContext: (options) => newContext(browser, options),
    close: () => browser.close(),
  };
}

async function newContext(browser: Browser, options?: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(WAIT_LIMIT);
  watchRequests(context);
  if (SLOWNESS > 0) await slowDown(context);
  return context;
}

/**
 * `WEIR_TEST_SLOW_MS=400 bun test tests/e2e` delays every response by up to that time, in any order, as on a busy
 * machine.
 */
const SLOWNESS = Number(process.env.WEIR_TEST_SLOW_MS ?? 0);

async function slowDown(context: BrowserContext): Promise<void> {
  await context.route("**/*", async (route) => {
    await Bun.sleep(Math.random() * SLOWNESS);
    // The page may be closed by now.
    await route.fallback().catch(() => {});
  });
}

/**
 * axe, minified (loads in half the time of its builder's version), with cached colours: it reads the colour of every
 * element, although a page has only a few, and that is a third of its time.
 */
const AXE = `${readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8")};(${rememberColours.toString()})();`;

/** In the page. */
function rememberColours(): void {
  interface Colour {
    r: number;
    g: number;
    b: number;
    alpha: number;
    parseString(text: string): Colour;
  }
  const { prototype } = (window as unknown as { axe: { commons: { color: { Color: { prototype: Colour } } } } }).axe
    .commons.color.Color;
  const parse = prototype.parseString;
  const read = new Map<string, Pick<Colour, "r" | "g" | "b" | "alpha">>();
  prototype.parseString = function (this: Colour, text) {
    const known = read.get(text);
    if (known) return Object.assign(this, known);
    const { r, g, b, alpha } = parse.call(this, text);
    read.set(text, { r, g, b, alpha });
    return this;
  };
}

/**
 * Every rule of axe; each violation and its elements as lines. A page without frames is checked in place: by default
 * the results are merged in a second page, which takes three times as long and moves the focus. Only violations are
 * described.
 */
async function axeViolations(page: Page, within?: string): Promise<string[]> {
  await settled(page);
  const alone = page.frames().length === 1;
  const axe = new AxeBuilder({ page, axeSource: AXE });
  if (within) axe.include(within);
  const { violations } = await axe
    .setLegacyMode(alone)
    .options({ resultTypes: ["violations"] })
    .analyze();
  return violations.flatMap(({ id, help, nodes }) => [
    `${id}: ${help}`,
    ...nodes.map((node) => `  ${node.target.join(" ")}  ${node.html.slice(0, 200)}`),
  ]);
}

/** Throws when axe finds something on what is shown. */
async function expectAccessible(page: Page, within?: string): Promise<void> {
  const lines = await axeViolations(page, within);
  if (lines.length > 0) throw new Error(`axe on ${page.url()}:\n${lines.join("\n")}`);
}

/** Throws when axe finds a violation, or the page scrolls sideways. */
export async function expectToLookRight(page: Page, within?: string): Promise<void> {
  await expectAccessible(page, within);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (overflow > 0) throw new Error(`${page.url()} is ${overflow} px wider than its window`);
}

async function openPage(browser: Browser, url: string, options: PageOptions = {}): Promise<ConsolePage> {
  const { language = "zh", theme = "light", viewport = "desktop", as } = options;
  const phone = viewport === "phone";
  const context = await newContext(browser, {
    viewport: VIEWPORTS[viewport],
    hasTouch: phone,
    isMobile: phone,
    colorScheme: theme,
    reducedMotion: "reduce",
    locale: language === "zh" ? "zh-CN" : "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
  });
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
    // A navigation, or a new poll, aborts pending requests.
    if (why !== "net::ERR_ABORTED") problems.push(`request: ${request.method()} ${request.url()} ${why}`);
  });
  await page.goto(url);
  const withLook = (error: Error): never => {
    throw new Error(`${error.message}\n(${language}, ${theme}, ${viewport})`);
  };

  return {
    page,
    context,
    expectProblem: (part) => expected.push(part),
    check: () => {
      const left = problems.filter((problem) => !expected.some((part) => problem.includes(part)));
      if (left.length > 0) throw new Error(`The page had ${left.length} problems:\n${left.join("\n")}`);
    },
    settled: () => settled(page),
    axe: () => expectAccessible(page).catch(withLook),
    looksRight: (within) => expectToLookRight(page, within).catch(withLook),
    screenshot: async (name) => {
      mkdirSync(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: true });
    },
    close: async () => {
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await context.close();
    },
  };
}
