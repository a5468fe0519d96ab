/**
 * Waiting in end-to-end tests. One generous limit for everything, so that a slow machine fails no correct test. No wait
 * takes longer than its condition.
 */
import type { BrowserContext, Locator, Page, Request } from "playwright-core";

/** Limit of one wait in milliseconds, here and as Playwright's default. */
export const WAIT_LIMIT = 20_000;
/** How long a page must make no request to count as settled: React requests what follows an answer at once. */
const QUIET = 100;

/** Requests in progress, for pages whose context was passed to `watchRequests`. */
const inFlight = new WeakMap<BrowserContext, { requests: Set<Request>; changed: number }>();

/** Counts a context's requests for `settled`; call before its first page opens. */
export function watchRequests(context: BrowserContext): void {
  const state = { requests: new Set<Request>(), changed: performance.now() };
  inFlight.set(context, state);
  const ended = (request: Request): void => {
    if (state.requests.delete(request)) state.changed = performance.now();
  };
  context.on("request", (request) => {
    // Open as long as its page is seen.
    if (request.url().endsWith("/api/changes")) return;
    state.requests.add(request);
    state.changed = performance.now();
  });
  context.on("requestfinished", ended);
  context.on("requestfailed", ended);
  // Closing a page ends its requests without an event.
  context.on("page", (page) =>
    page.on("close", () => [...state.requests].filter((request) => pageOf(request) === page).forEach(ended)),
  );
}

/** The page of a request; none for a service worker, or a frame that does not exist yet. */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}

/**
 * Waits until the page is complete: no request in progress or about to start, fonts loaded, no finite animation
 * running. Throws with the open requests after the limit.
 */
export async function settled(page: Page): Promise<void> {
  const state = inFlight.get(page.context());
  if (!state) throw new Error("settled: this page's context is not watched (watchRequests)");
  for (const end = performance.now() + WAIT_LIMIT; ; await Bun.sleep(15)) {
    if (performance.now() > end) {
      throw new Error(
        `${page.url()} did not settle within ${WAIT_LIMIT} ms; still asked: ${[...state.requests].map((request) => request.url()).join(", ") || "(nothing; something is still loading, or new things are asked for again and again)"}`,
      );
    }
    if (state.requests.size > 0 || performance.now() - state.changed < QUIET) continue;
    // A navigation ends the evaluation.
    const isDrawn = await page.evaluate(drawn).catch((error: unknown) => {
      if (page.isClosed()) throw error;
      return false;
    });
    if (!isDrawn) continue;
    if (state.requests.size === 0 && performance.now() - state.changed >= QUIET) return;
  }
}

/**
 * In the page: fonts loaded, animations finished, two frames drawn since, and no placeholder for content that is still
 * loading.
 */
async function drawn(): Promise<boolean> {
  await document.fonts.ready;
  const ending = document
    .getAnimations()
    .filter((animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime));
  await Promise.allSettled(ending.map((animation) => animation.playState === "running" && animation.finished));
  await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  // Other open pages have no #root: an operator's page, an external chat.
  return !document.querySelector("[data-loading], [aria-busy=true], #root:empty");
}

/** Polls until `holds`; throws after the limit, naming `what`. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + WAIT_LIMIT; !(await holds()); await Bun.sleep(50)) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_LIMIT} ms: ${what}`);
  }
}

/** Polls until the value read is `value`; throws after the limit with the last value. */
export async function becomes<T>(read: () => Promise<T>, value: NoInfer<T>): Promise<void> {
  let last: T | undefined;
  await eventually(`to become ${JSON.stringify(value)}`, async () => (last = await read()) === value).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
    },
  );
}

/**
 * Selects an item of a submenu with the mouse in small steps, because a jump counts as leaving the menu. Clicks only
 * when the item is highlighted; Playwright then checks that the click hits it.
 */
export async function chooseFromSubmenu(page: Page, opener: Locator, item: Locator): Promise<void> {
  await settled(page);
  await eventually("the item of the inner menu is under the mouse", async () => {
    await opener.hover();
    await item.waitFor();
    await settled(page);
    const box = await item.boundingBox();
    if (!box) return false;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 12 });
    return (await item.and(page.locator("[data-highlighted]")).count()) > 0;
  });
  await item.click();
}
