/**
 * The console's routes for jobs over the real server: submitting with a session, and viewing a job's files. The vendor
 * uses the format of relay/tasks/suno.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:http";
import { ROLE } from "../../src/shared/roles";
import { startWeir, type Session, type Weir } from "../kit/weir";

const SOUND = new Uint8Array(1000).map((_, i) => i % 251);
let asked: { path: string; body: unknown }[] = [];
let vendor: ReturnType<typeof Bun.serve>;
let weir: Weir;
let ann: Session;
let ben: Session;
let admin: Session;

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/song.mp3") {
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.get("range") ?? "") ?? [];
        if (!from || !to) return new Response(SOUND, { headers: { "content-type": "audio/mpeg" } });
        const part = SOUND.slice(Number(from), Number(to) + 1);
        return new Response(part, {
          status: 206,
          headers: { "content-type": "audio/mpeg", "content-range": `bytes ${from}-${to}/${SOUND.length}` },
        });
      }
      if (pathname === "/page")
        return new Response("<script>alert(1)</script>", { headers: { "content-type": "text/html" } });
      asked.push({ path: pathname, body: await request.json() });
      return Response.json({ code: "success", message: "", data: "vendors-id" });
    },
  });
  weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
  await weir.newChannel({
    type: 36,
    base_url: `http://127.0.0.1:${vendor.port}`,
    models: ["suno_music", "suno_lyrics"],
  });
  await weir.setOption("ModelPrice", { suno_music: 0.1, suno_lyrics: 0.01 });
  [ann, ben, admin] = await Promise.all([
    weir.newUser({ quota: 1_000_000 }),
    weir.newUser({ quota: 10 }),
    weir.newUser({ role: ROLE.admin }),
  ]);
});
afterAll(async () => {
  await weir?.stop();
  await vendor?.stop(true);
});

const call = (
  session: Session | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = session?.headers ?? {},
) =>
  fetch(weir.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });

describe("submitting with a session", () => {
  test("a job belongs to the user, is charged to their balance, and is in their list and log", async () => {
    const answer = await call(ann, "POST", "/pg/suno/submit/music", {
      group: "default",
      gpt_description_prompt: "rain",
      mv: "chirp-v4",
    });
    const { code, data } = (await answer.json()) as { code: string; data: string };
    expect([answer.status, code]).toEqual([200, "success"]);
    expect(asked.at(-1)).toEqual({
      path: "/suno/submit/MUSIC",
      body: { gpt_description_prompt: "rain", mv: "chirp-v4" },
    });
    const [row] = (await ann.trpc.task.list.query({ task_id: data })).items;
    expect(row).toMatchObject({
      task_id: data,
      action: "MUSIC",
      platform: "suno",
      status: "SUBMITTED",
      prompt: "rain",
      quota: 50_000,
      channel_id: 0,
    });
    expect(await weir.waitForLog((log) => log.request_id === row?.request_id)).toMatchObject({
      quota: 50_000,
      token_name: "playground-default",
      model_name: "suno_music",
    });
    expect((await weir.balance(ann.id)).quota).toBe(950_000);
  });

  test("a job is logged with the address that its caller came from", async () => {
    const text = JSON.stringify({ group: "default", gpt_description_prompt: "from elsewhere", mv: "chirp-v4" });
    const status = await new Promise<number>((resolve, reject) => {
      const sent = request(
        `${weir.url}/pg/suno/submit/music`,
        {
          method: "POST",
          localAddress: "127.0.0.2",
          headers: { "content-type": "application/json", "content-length": text.length, ...ann.headers },
        },
        (answer) => resolve(answer.resume().statusCode ?? 0),
      );
      sent.on("error", reject);
      sent.end(text);
    });
    expect(status).toBe(200);
    const { items } = await ann.trpc.task.list.query({});
    const job = items.find(({ prompt }) => prompt === "from elsewhere");
    expect((await weir.waitForLog((log) => log.request_id === job?.request_id)).ip).toBe("127.0.0.2");
  });

  test("without a session, without the user-id header, and with a system access token it is refused", async () => {
    const path = "/pg/suno/submit/lyrics";
    expect((await call(undefined, "POST", path, { prompt: "x" })).status).toBe(401);
    expect((await call(ann, "POST", path, { prompt: "x" }, { cookie: ann.cookie })).status).toBe(401);
    const token = await ben.ok<string>("GET", "/api/user/token");
    expect((await call(undefined, "POST", path, { prompt: "x" }, { authorization: token })).status).toBe(400);
  });

  test("a job without balance, group access or valid input is refused before the vendor is called", async () => {
    asked = [];
    const refusals = await Promise.all([
      call(ben, "POST", "/pg/suno/submit/music", { prompt: "x" }),
      call(ann, "POST", "/pg/suno/submit/lyrics", { prompt: "x", group: "secret" }),
      call(ann, "POST", "/pg/suno/submit/lyrics", {}),
      call(ann, "POST", "/pg/suno/submit/lyrics", "{"),
      call(ann, "POST", "/pg/suno/submit/lyrics", ""),
      call(ann, "POST", "/pg/suno/fetch", { ids: [] }),
      call(ann, "POST", "/pg/v1/files", {}),
      call(ann, "POST", "/pg/v1/embeddings", { model: "x", input: "x" }),
      call(ann, "POST", "/pg/", {}),
      call(ann, "POST", "/pg/../api/user/self", {}),
    ]);
    for (const answer of refusals) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.status).toBeLessThan(500);
    }
    expect(asked).toEqual([]);
  });
});

describe("the files of a job", () => {
  let id: number;
  const file = (session: Session | undefined, query: string, headers: Record<string, string>) =>
    call(session, "GET", `/api/task/file?${query}`, undefined, headers);

  beforeAll(async () => {
    const { tasks } = weir.db.t;
    const at = `http://127.0.0.1:${vendor.port}`;
    const rows = await weir.db.q
      .insert(tasks)
      .values({
        task_id: "task_files",
        platform: "suno",
        action: "MUSIC",
        user_id: ann.id,
        username: ann.username,
        channel_id: 1,
        status: "SUCCESS",
        submit_time_ms: 1,
        input: "{}",
        state: "{}",
        data: JSON.stringify([{ audio_url: `${at}/song.mp3`, image_url: `${at}/page`, title: "A" }]),
      })
      .returning({ id: tasks.id });
    id = rows[0]?.id ?? 0;
  });

  test("the opened job lists its files, and that it cannot be cancelled any more", async () => {
    expect(await ann.trpc.task.get.query({ id })).toMatchObject({
      task_id: "task_files",
      cancellable: false,
      files: [
        { media: "audio", url: `/api/task/file?id=${id}&n=0` },
        { media: "image", url: `/api/task/file?id=${id}&n=1` },
      ],
    });
  });

  test("a browser gets a file with only the session's cookie, whole and in ranges", async () => {
    const whole = await file(ann, `id=${id}&n=0`, { cookie: ann.cookie });
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
    expect(new Uint8Array(await whole.arrayBuffer())).toEqual(SOUND);
    const part = await file(ann, `id=${id}`, { cookie: ann.cookie, range: "bytes=10-19" });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 10-19/1000"]);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(SOUND.slice(10, 20));
    expect(part.headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });

  test("an administrator gets it; another user gets a 404, and without a session it is closed", async () => {
    const status = async (session: Session | undefined, headers: Record<string, string>) =>
      (await file(session, `id=${id}&n=0`, headers)).status;
    expect(await status(admin, { cookie: admin.cookie })).toBe(200);
    expect(await status(ben, { cookie: ben.cookie })).toBe(404);
    expect(await status(undefined, {})).toBe(401);
    expect(await status(ann, { cookie: ann.cookie, "new-api-user": String(ben.id) })).toBe(401);
    expect(await status(undefined, { cookie: "session=nonsense" })).toBe(401);
  });

  test("HTML is never served as HTML, whatever the vendor sends", async () => {
    const odd = await file(ann, `id=${id}&n=1`, { cookie: ann.cookie });
    expect(odd.headers.get("content-type")).toStartWith("image/");
    expect(odd.headers.get("x-content-type-options")).toBe("nosniff");
    expect(odd.headers.get("content-security-policy")).toContain("sandbox");
  });

  test("an unknown file is 404, an invalid request 400", async () => {
    for (const [query, status] of [
      [`id=${id}&n=2`, 404],
      ["id=999999", 404],
      ["", 400],
      ["id=x", 400],
      [`id=${id}&n=-1`, 400],
      [`id=${id}&n=1e9`, 400],
    ] as const) {
      expect([query, (await file(ann, query, { cookie: ann.cookie })).status]).toEqual([query, status]);
    }
  });

  test("the cookie without the header gives access only to files", async () => {
    expect((await call(ann, "GET", "/api/task/self", undefined, { cookie: ann.cookie })).status).toBe(401);
    expect((await call(ann, "GET", "/api/log/export", undefined, { cookie: ann.cookie })).status).toBe(401);
  });

  test("a job that cannot be cancelled, and another user's, are not cancelled", async () => {
    await expect(ann.trpc.task.cancel.mutate({ id })).rejects.toThrow("不能取消");
    await expect(ben.trpc.task.cancel.mutate({ id })).rejects.toThrow("任务不存在");
  });
});
