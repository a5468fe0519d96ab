/**
 * A midjourney-proxy (Plus) for tests and development: accepts jobs, answers queries, calls webhooks, serves images.
 * Formats: github.com/novicezk/midjourney-proxy docs/api.md and github.com/litter-coder/midjourney-proxy-plus
 * docs/api.md, read November 2026. A job changes only when the test changes it.
 */
export interface FakeJob {
  id: string;
  action: string;
  status: "NOT_START" | "SUBMITTED" | "MODAL" | "IN_PROGRESS" | "SUCCESS" | "FAILURE";
  prompt: string;
  progress: string;
  imageUrl: string | null;
  failReason: string | null;
  startTime: number | null;
  finishTime: number | null;
  buttons: object[];
  properties: Record<string, unknown>;
  /** Members that only some deployments send. */
  [more: string]: unknown;
}

export interface MjRequest {
  method: string;
  /** With the mode's segment: "/mj-relax/mj/submit/imagine". */
  path: string;
  /** Of the header mj-api-secret. */
  key: string;
  body: Record<string, unknown>;
}

export interface FakeMidjourney {
  readonly url: string;
  readonly jobs: ReadonlyMap<string, FakeJob>;
  /** Every request with a valid or invalid key, oldest first, except images. */
  readonly requests: MjRequest[];
  /** How often an image was fetched. */
  readonly pictures: number;
  /** The answers to the next submits, in turn; undefined: the default. */
  next: (Partial<{ status: number; body: unknown; text: string }> | undefined)[];
  /** Acts as the plain proxy, which cannot cancel a job. */
  plain: boolean;
  /** Answers every query with this status until reset to 0. */
  broken: number;
  /** Changes a job. */
  move(id: string, change: Partial<FakeJob>): void;
  /** Makes the job a SUCCESS with an image of this server. */
  finish(id: string, change?: Partial<FakeJob>): void;
  /** Makes the vendor forget the job. */
  forget(id: string): void;
  submits(): MjRequest[];
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A PNG of one pixel. */
export const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const HASH = "85a4b4c1-8835-46c5-a15c-aea34fad1862";
/** Buttons below a grid of four and below one image (docs/api.md section 1, "Button"). */
export const BUTTONS = [
  { customId: `MJ::JOB::upsample::1::${HASH}`, emoji: "", label: "U1", type: 2, style: 2 },
  { customId: `MJ::JOB::variation::1::${HASH}`, emoji: "", label: "V1", type: 2, style: 2 },
  { customId: `MJ::JOB::reroll::0::${HASH}::SOLO`, emoji: "🔄", label: "", type: 2, style: 2 },
  { customId: `MJ::CustomZoom::${HASH}`, emoji: "🔍", label: "Custom Zoom", type: 2, style: 2 },
  { customId: `MJ::Inpaint::1::${HASH}::SOLO`, emoji: "🖌️", label: "Vary (Region)", type: 2, style: 2 },
];

const SUBMIT = /^(?:\/[\w-]+)?\/mj\/(?:submit\/([\w-]+)|insight-face\/(swap))$/;
const QUESTION = /^(?:\/[\w-]+)?\/mj\/task\/(?:([^/]+)\/(fetch|image-seed|cancel)|list-by-condition)$/;
const WINDOW = /::(?:CustomZoom|Inpaint)::/;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function startFakeMidjourney({
  keys = ["mj-secret", "mj-second"],
  port = 0,
}: { keys?: readonly string[]; port?: number } = {}): FakeMidjourney {
  const jobs = new Map<string, FakeJob>();
  const requests: MjRequest[] = [];
  let made = 0;
  let pictures = 0;

  function make(action: string, body: Record<string, unknown>): FakeJob {
    const id = String(1_689_231_405_850_000 + ++made);
    const job: FakeJob = {
      id,
      action,
      status: "SUBMITTED",
      prompt: typeof body.prompt === "string" ? body.prompt : "",
      progress: "0%",
      imageUrl: null,
      failReason: null,
      startTime: null,
      finishTime: null,
      buttons: [],
      properties: {},
      promptEn: "Cat",
      description: `/${action} Cat`,
      state: body.state ?? null,
      submitTime: 1_689_231_405_854,
    };
    jobs.set(id, job);
    return job;
  }

  function submit(name: string, body: Record<string, unknown>): Response {
    const told = fake.next.shift();
    if (told) {
      if (told.text !== undefined) return new Response(told.text, { status: told.status ?? 200 });
      return Response.json(told.body ?? {}, { status: told.status ?? 200 });
    }
    if (name === "upload-discord-images") {
      return Response.json({ code: 1, description: "Submit success", result: [`${fake.url}/picture/upload.png`] });
    }
    if (name === "modal") {
      const job = jobs.get(String(body.taskId));
      if (job?.status !== "MODAL") return Response.json({ code: 4, description: "关联任务状态错误" });
      Object.assign(job, { status: "SUBMITTED", prompt: body.prompt ?? job.prompt });
      return Response.json({ code: 1, description: "提交成功", result: job.id });
    }
    const parent =
      typeof body.taskId === "string"
        ? body.taskId
        : /^(\S+) /.exec(typeof body.content === "string" ? body.content : "")?.[1];
    if (parent !== undefined && !jobs.has(parent))
      return Response.json({ code: 3, description: "关联任务不存在或已失效" });
    if (name === "action" && WINDOW.test(String(body.customId))) {
      const job = make(name, body);
      job.status = "MODAL";
      return Response.json({
        code: 21,
        description: "Waiting for window confirm",
        result: job.id,
        properties: { finalPrompt: "Cat", remix: true },
      });
    }
    return Response.json({ code: 1, description: "提交成功", result: make(name, body).id, properties: {} });
  }

  function question(id: string, kind: string, body: Record<string, unknown>): Response {
    if (fake.broken > 0) return Response.json({ error: "broken" }, { status: fake.broken });
    if (kind === "")
      return Response.json(Array.isArray(body.ids) ? body.ids.flatMap((one) => jobs.get(String(one)) ?? []) : []);
    if (kind === "cancel") {
      const job = jobs.get(id);
      if (fake.plain) return Response.json({ status: 404, error: "Not Found" }, { status: 404 });
      if (!job || job.status === "SUCCESS") return Response.json({ code: 4, description: "任务已完成，不能取消" });
      Object.assign(job, { status: "FAILURE", failReason: "canceled" });
      return Response.json({ code: 1, description: "成功" });
    }
    if (kind === "fetch") return Response.json(jobs.get(id) ?? null);
    return Response.json(
      jobs.has(id) ? { code: 1, description: "成功", result: "1820374512" } : { code: 3, description: "任务不存在" },
    );
  }

  /** The image, whole or a range of it. */
  function picture(request: Request): Response {
    pictures++;
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.get("range") ?? "");
    const headers = { "content-type": "image/png", "accept-ranges": "bytes" };
    if (!range) return new Response(PICTURE, { headers });
    const from = Number(range[1]);
    const to = range[2] ? Math.min(Number(range[2]), PICTURE.length - 1) : PICTURE.length - 1;
    if (from > to)
      return new Response(null, { status: 416, headers: { "content-range": `bytes */${PICTURE.length}` } });
    return new Response(PICTURE.subarray(from, to + 1), {
      status: 206,
      headers: { ...headers, "content-range": `bytes ${from}-${to}/${PICTURE.length}` },
    });
  }

  /** An image without an end. */
  function endless(): Response {
    const part = new Uint8Array(1 << 20);
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(part) }), {
      headers: { "content-type": "image/png" },
    });
  }

  const server = Bun.serve({
    port,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/picture/endless.png") return endless();
      if (pathname.startsWith("/picture/")) return picture(request);
      const given: unknown = request.method === "POST" ? await request.json().catch(() => undefined) : {};
      const body = isRecord(given) ? given : {};
      const presented = request.headers.get("mj-api-secret") ?? "";
      requests.push({ method: request.method, path: pathname, key: presented, body });
      if (!keys.includes(presented)) return Response.json({ code: 1, description: "unauthorized" }, { status: 401 });
      const submitted = request.method === "POST" ? SUBMIT.exec(pathname) : null;
      if (submitted) return submit(submitted[1] ?? submitted[2] ?? "", body);
      const asked = QUESTION.exec(pathname);
      if (asked) return question(decodeURIComponent(asked[1] ?? ""), asked[2] ?? "", body);
      return Response.json({ status: 404, error: "Not Found", path: pathname }, { status: 404 });
    },
  });

  const fake: FakeMidjourney = {
    url: `http://127.0.0.1:${server.port}`,
    jobs,
    requests,
    get pictures() {
      return pictures;
    },
    next: [],
    plain: false,
    broken: 0,
    move: (id, change) => {
      const job = jobs.get(id);
      if (!job) throw new Error(`the fake Midjourney knows no job ${id}`);
      Object.assign(job, change);
    },
    finish: (id, change) =>
      fake.move(id, {
        status: "SUCCESS",
        progress: "100%",
        imageUrl: `${fake.url}/picture/${id}.png`,
        finishTime: 1_689_231_544_312,
        buttons: BUTTONS,
        properties: { finalPrompt: "Cat" },
        ...change,
      }),
    forget: (id) => void jobs.delete(id),
    submits: () => requests.filter(({ method, path }) => method === "POST" && SUBMIT.test(path)),
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return fake;
}
