/**
 * Waiting in end-to-end tests. One generous limit for everything: a machine that does other work beside is slow, and a
 * test that is right must not notice. Nothing here waits longer than what it waits for takes.
 */
import type { BrowserContext, Locator, Page, Request } from "playwright-core";

/** Limit of one wait in milliseconds, here and as Playwright's default. */
export const WAIT_LIMIT = 20_000;
/**
 * How long nothing may have been asked for a page to count as settled: React asks for what follows an answer at once.
 */
const QUIET = 100;

/** Requests under way, for pages whose context was given to `watchRequests`. */
const inFlight = new WeakMap<BrowserContext, { requests: Set<Request>; changed: number }>();

/** Counts a context's requests for `settled`; call before its first page opens. */
export function watchRequests(context: BrowserContext): void {
  const state = { requests: new Set<Request>(), changed: performance.now() };
  inFlight.set(context, state);
  const ended = (request: Request): void => {
    if (state.requests.delete(request)) state.changed = performance.now();
  };
  context.on("request", (request) => {
    state.requests.add(request);
    state.changed = performance.now();
  });
  context.on("requestfinished", ended);
  context.on("requestfailed", ended);
  // A page that closes takes its requests along without a word.
  context.on("page", (page) =>
    page.on("close", () => [...state.requests].filter((request) => pageOf(request) === page).forEach(ended)),
  );
}

/** The page that asked; none for what a service worker, or a frame that is not there yet, asks. */
function pageOf(request: Request): Page | undefined {
  try {
    return request.frame().page();
  } catch {
    return undefined;
  }
}

/**
 * Waits until the page shows what it has to show: no request under way nor about to be made, fonts there, nothing
 * moving that ends by itself. Throws with the requests that are left after the limit.
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
    // A page that is being left takes the question along.
    const isDrawn = await page.evaluate(drawn).catch((error: unknown) => {
      if (page.isClosed()) throw error;
      return false;
    });
    if (!isDrawn) continue;
    if (state.requests.size === 0 && performance.now() - state.changed >= QUIET) return;
  }
}

/**
 * In the page: fonts loaded, what moves has arrived, two frames drawn since, and nothing there that stands for what is
 * still to come.
 */
async function drawn(): Promise<boolean> {
  await document.fonts.ready;
  const ending = document
    .getAnimations()
    .filter((animation) => Number.isFinite(animation.effect?.getComputedTiming().endTime));
  await Promise.allSettled(ending.map((animation) => animation.playState === "running" && animation.finished));
  await new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
  // Whatever else is open has no #root: an operator's page, somebody else's chat.
  return !document.querySelector("[data-loading], [aria-busy=true], #root:empty");
}

/** Polls until `holds`; throws after the limit, naming `what`. */
export async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + WAIT_LIMIT; !(await holds()); await Bun.sleep(50)) {
    if (performance.now() > end) throw new Error(`not within ${WAIT_LIMIT} ms: ${what}`);
  }
}

/** Polls until what is read is `value`; throws after the limit with what was read last. */
export async function becomes<T>(read: () => Promise<T>, value: NoInfer<T>): Promise<void> {
  let last: T | undefined;
  await eventually(`to become ${JSON.stringify(value)}`, async () => (last = await read()) === value).catch(
    (error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
    },
  );
}

/**
 * Chooses an item of a menu beside a menu with the mouse, as a hand does: in small steps, for a jump counts as leaving.
 * Pressed only when the item is the one marked; Playwright then checks again that the press hits it.
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
