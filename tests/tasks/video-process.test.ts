/**
 * Videos over the real server and real connections: the official SDK, built-in prices, a vendor on a port. Responses as
 * in video-fakes.ts.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { gt } from "drizzle-orm";
import OpenAI, { toFile } from "openai";
import { startWeir, type Session, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";
import { script } from "./video-fakes";

const MOVIE = Buffer.from("0123456789abcdef");
const [sora, kling, jimeng] = [script("Sora"), script("Kling"), script("Jimeng")];
/** The requests to the vendor: line, and the parts of a form or the members of a body. */
const asked: { line: string; body: string }[] = [];
let vendor: ReturnType<typeof Bun.serve>;
let weir: Weir;
let ann: Session;
let key: string;

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      const line = `${request.method} ${pathname}`;
      asked.push({ line, body: await request.text() });
      if (pathname.endsWith("/content") || pathname === "/film.mp4")
        return new Response(new Uint8Array(MOVIE), { headers: { "content-type": "video/mp4" } });
      if (line === sora.submit) return Response.json(sora.accepted);
      if (line === sora.poll) return Response.json(sora.done);
      if (line === kling.submit) return Response.json(kling.accepted);
      if (line === kling.poll)
        return Response.json(
          JSON.parse(
            JSON.stringify(kling.done).replace(
              "https://cdn.test/kling.mp4",
              `http://127.0.0.1:${vendor.port}/film.mp4`,
            ),
          ),
        );
      if (pathname === "/")
        return Response.json(searchParams.get("Action") === "CVSync2AsyncSubmitTask" ? jimeng.accepted : jimeng.failed);
      return Response.json({ error: { message: line } }, { status: 404 });
    },
  });
  weir = await startWeir({ child: HURRIED, env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
  const base_url = `http://127.0.0.1:${vendor.port}`;
  for (const { type, key, model } of [sora, kling, jimeng])
    await weir.newChannel({ type, base_url, key, models: [model] });
  ann = await weir.newUser({ quota: 5_000_000 });
  ({ key } = await weir.newToken({}, ann));
});
afterAll(async () => {
  await weir?.stop();
  await vendor?.stop(true);
});

/** Polls until the condition holds, with every job due at once; the machine may be busy. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 60_000; ; await Bun.sleep(50)) {
    await weir.db.q.update(weir.db.t.tasks).set({ next_poll_at_ms: 1 }).where(gt(weir.db.t.tasks.next_poll_at_ms, 1));
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
  }
}
const paid = async (): Promise<number> => 5_000_000 - (await weir.balance(ann.id)).quota;

test("the SDK makes a video from a picture, waits for it and downloads it, at the price that is built in", async () => {
  const client = new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
  const video = await client.videos.create({
    model: "sora-2",
    prompt: "a calico cat",
    seconds: "8",
    size: "720x1280",
    input_reference: await toFile(Buffer.from("\x89PNG\r\n\x1a\n"), "cat.png", { type: "image/png" }),
  });
  expect(video).toMatchObject({ object: "video", status: "queued", model: "sora-2", seconds: "8", size: "720x1280" });
  expect(asked.find(({ line }) => line === sora.submit)?.body).toMatch(
    /name="input_reference"; filename="[^"]+"[\s\S]+image\/png/,
  );
  expect(await paid()).toBe(sora.units);
  const done = await until("the video is done", async () => {
    const seen = await client.videos.retrieve(video.id);
    return seen.status === "completed" ? seen : undefined;
  });
  expect(done.progress).toBe(100);
  const file = await client.videos.downloadContent(video.id);
  expect([file.headers.get("content-type"), await file.text()]).toEqual(["video/mp4", MOVIE.toString()]);
  expect(await paid()).toBe(sora.units);
}, 90_000);

test("Kling's own path answers in Kling's format, and the file of a vendor's URL is served by this server", async () => {
  const before = await paid();
  const answer = await weir.call(
    key,
    { model_name: kling.model, prompt: "rain", duration: "5", mode: "pro" },
    { path: "/kling/v1/videos/text2video" },
  );
  const { data } = (await answer.json()) as { data: { task_id: string } };
  const look = (path: string) => fetch(weir.url + path, { headers: { authorization: `Bearer ${key}` } });
  const seen = await until("the video is done", async () => {
    const { data: job } = (await (await look(`/kling/v1/videos/text2video/${data.task_id}`)).json()) as {
      data: { task_status: string };
    };
    return job.task_status === "succeed" ? job : undefined;
  });
  expect(seen).toMatchObject({ task_result: { videos: [{ url: `http://127.0.0.1:${vendor.port}/film.mp4` }] } });
  expect(await (await look(`/v1/videos/${data.task_id}/content`)).text()).toBe(MOVIE.toString());
  expect((await paid()) - before).toBe(kling.units);
}, 90_000);

test("Jimeng's own path takes an action, and a failed job is refunded", async () => {
  const before = await paid();
  const path = "/jimeng/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31";
  const answer = await weir.call(key, { req_key: jimeng.model, prompt: "rain", frames: 121 }, { path });
  const { code, data } = (await answer.json()) as { code: number; data: { task_id: string } };
  expect(code).toBe(10_000);
  expect((await paid()) - before).toBe(jimeng.units);
  await until("the job has failed", async () => {
    const { status } = (
      (await (
        await fetch(`${weir.url}/v1/video/generations/${data.task_id}`, { headers: { authorization: `Bearer ${key}` } })
      ).json()) as { data: { status: string } }
    ).data;
    return status === "FAILURE" ? status : undefined;
  });
  expect((await paid()) - before).toBe(0);
  await until("the log is folded", async () => ((await weir.audit()).length === 0 ? true : undefined));
}, 150_000);
