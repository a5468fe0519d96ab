/**
 * Jobs in a real browser, with a real Weir and fakes of Midjourney and Suno: submit, watch, see the result, see the
 * bill.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { desc, ne } from "drizzle-orm";
import type { TaskRow } from "../../src/server/db/schema";
import { type ConsolePage, launchBrowser, TEST_LIMIT, type TestBrowser } from "../kit/browser";
import { eventually } from "../kit/browser-wait";
import { type FakeMidjourney, startFakeMidjourney } from "../kit/fake-midjourney";
import { required } from "../kit/required";
import { type } from "../kit/typing";
import { type Session, startWeir, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";

setDefaultTimeout(TEST_LIMIT);

const noChromium = required("chromium") === undefined;
const PRICE = 50_000;
let midjourney: FakeMidjourney;
let suno: ReturnType<typeof Bun.serve>;
/** Suno's status of its one job, and why it failed. */
let song = { status: "IN_PROGRESS", fail_reason: "" };
let weir: Weir;
let browser: TestBrowser;
let user: Session;
let tab: ConsolePage;

/** A tenth of a second of silence (RIFF, 8 kHz, 8 bit, mono). */
function silence(): Uint8Array<ArrayBuffer> {
  const samples = 800;
  const bytes = Uint8Array.from({ length: 44 + samples }, () => 128);
  const view = new DataView(bytes.buffer);
  const words: [number, string][] = [
    [0, "RIFF"],
    [8, "WAVEfmt "],
    [36, "data"],
  ];
  for (const [at, text] of words) bytes.set(new TextEncoder().encode(text), at);
  for (const [at, value] of [
    [4, 36 + samples],
    [16, 16],
    [24, 8000],
    [28, 8000],
    [40, samples],
  ] as const)
    view.setUint32(at, value, true);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    view.setUint16(at, value, true);
  return bytes;
}

/** Suno-API's responses. */
const answerSuno = (request: Request): Response => {
  const { pathname, origin } = new URL(request.url);
  if (pathname === "/song.wav") return new Response(silence(), { headers: { "content-type": "audio/wav" } });
  if (pathname === "/suno/fetch") {
    const data = song.status === "SUCCESS" ? [{ title: "Rain", audio_url: `${origin}/song.wav` }] : [];
    return Response.json({
      code: "success",
      data: [{ task_id: "song", action: "MUSIC", progress: "50%", data, ...song }],
    });
  }
  return Response.json({ code: "success", message: "", data: "song" });
};

beforeAll(async () => {
  if (noChromium) return;
  // First: it builds the console that the server then serves.
  browser = await launchBrowser();
  midjourney = startFakeMidjourney();
  suno = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answerSuno });
  weir = await startWeir({ child: HURRIED, env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
  await weir.newChannel({ type: 2, base_url: midjourney.url, key: "mj-secret", models: ["mj_imagine"] });
  await weir.newChannel({ type: 36, base_url: `http://127.0.0.1:${suno.port}`, models: ["suno_music"] });
  await weir.setOption("ModelPrice", { mj_imagine: 0.1, suno_music: 0.1 });
  user = await weir.newUser({ quota: 1_000_000 });
  tab = await browser.open(`${weir.url}/playground`, { as: user });
}, 120_000);
afterAll(async () => {
  await tab?.close();
  await browser?.close();
  await weir?.stop();
  await suno?.stop(true);
  await midjourney?.stop();
});

/** Polls every open job in the next round, instead of after 15 s, until the newest job has that status. */
async function polled(what: string, is: (newest: TaskRow) => boolean): Promise<void> {
  const { tasks } = weir.db.t;
  await eventually(what, async () => {
    await weir.db.q.update(tasks).set({ next_poll_at_ms: 1 }).where(ne(tasks.next_poll_at_ms, 0));
    const [newest] = await weir.db.q.select().from(tasks).orderBy(desc(tasks.id)).limit(1);
    return newest !== undefined && is(newest);
  });
}

/** Whether an element shows a loaded image. */
const drawn = (element: unknown): boolean =>
  element instanceof HTMLImageElement && element.complete && element.naturalWidth > 0;

describe.skipIf(noChromium)("jobs in the console", () => {
  test("a picture is submitted in the playground and watched; its image, its row and its bill are shown", async () => {
    const { page } = tab;
    await page.getByRole("tab", { name: "任务" }).click();
    await page.getByRole("radio", { name: "图片" }).click();
    await type(page.getByRole("textbox", { name: "提示词", exact: true }), "一只猫");
    await tab.looksRight();
    await page.getByRole("button", { name: "提交任务" }).click();
    const job = page.getByRole("article").filter({ hasText: "一只猫" });
    await job.getByText("队列中").waitFor();
    const [id = ""] = midjourney.jobs.keys();
    expect(midjourney.submits()[0]?.body).toMatchObject({ prompt: "一只猫" });
    midjourney.move(id, { status: "IN_PROGRESS", progress: "45%" });
    await polled("the job is at 45%", ({ progress }) => progress === "45%");
    await job.getByText("45%").waitFor();
    midjourney.finish(id);
    await polled("the picture is finished", ({ status }) => status === "SUCCESS");
    await job.getByText("成功").waitFor();
    const picture = job.getByRole("img", { name: "图片" });
    await eventually("the picture is drawn", () => picture.evaluate(drawn));
    await tab.looksRight();
    await tab.screenshot("jobs-playground");
    await job.getByRole("link", { name: /费用 \$0\.1/ }).click();
    await page
      .getByRole("row", { name: /mj_imagine/ })
      .getByText("$0.100000")
      .waitFor();
    expect((await weir.balance(user.id)).quota).toBe(1_000_000 - PRICE);
  });

  test("the list of drawings shows the picture small, and in full when it is pressed", async () => {
    const { page } = tab;
    await page.goto(`${weir.url}/midjourney`);
    const thumbnail = page.getByRole("button", { name: "查看结果" });
    await eventually("the small picture is drawn", () => thumbnail.locator("img").evaluate(drawn));
    await thumbnail.click();
    const drawer = page.getByRole("dialog");
    await eventually("the picture is drawn", () => drawer.getByRole("img", { name: "图片" }).evaluate(drawn));
    // spec: C-033
    expect(await drawer.locator("pre").innerText()).toContain('"status": "SUCCESS"');
    await tab.looksRight();
    await tab.screenshot("jobs-midjourney");
  });

  test("a song can be played from its row; a failed one says why and that it was refunded", async () => {
    const { page } = tab;
    const submit = () =>
      fetch(`${weir.url}/pg/suno/submit/music`, {
        method: "POST",
        headers: { ...user.headers, "content-type": "application/json" },
        body: JSON.stringify({ gpt_description_prompt: "rain" }),
      });
    expect((await submit()).status).toBe(200);
    song = { status: "SUCCESS", fail_reason: "" };
    await polled("the song is finished", ({ status }) => status === "SUCCESS");
    await page.goto(`${weir.url}/task`);
    // spec: C-034
    await page.getByRole("row").getByText("成功").waitFor();
    await page.getByRole("button", { name: "查看结果" }).click();
    const sound = page.getByRole("dialog").locator("audio");
    await eventually("the song has arrived", () =>
      sound.evaluate((element: HTMLAudioElement) => {
        if (element.preload !== "auto") Object.assign(element, { preload: "auto" }).load();
        return element.duration > 0;
      }),
    );
    await tab.looksRight();
    await tab.screenshot("jobs-task");
    song = { status: "FAILURE", fail_reason: "the melody is taken" };
    expect((await submit()).status).toBe(200);
    await polled("the second song has failed", ({ status }) => status === "FAILURE");
    await page.goto(`${weir.url}/task`);
    await page.getByRole("row", { name: /the melody is taken/ }).click();
    await page.getByRole("dialog").getByText("已退款").waitFor();
    expect((await weir.balance(user.id)).quota).toBe(1_000_000 - 2 * PRICE);
    tab.check();
  });
});
