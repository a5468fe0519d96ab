import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { TaskView } from "../../../shared/task-list";
import type { SubmittedJob } from "./job-card";

const { useState } = await import("react");
const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { clearUser, storeUser } = await import("../../lib/session");
const { canSubmit, emptyJob, jobCall } = await import("./job-call");
const { default: JobsTab } = await import("./jobs-tab");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

function Tab({ models }: { models: readonly string[] }) {
  const [jobs, setJobs] = useState<readonly SubmittedJob[]>([]);
  return (
    <JobsTab group="vip" models={models} jobs={jobs} onSubmitted={(job) => setJobs((before) => [job, ...before])} />
  );
}

const row: TaskView = {
  id: 5,
  user_id: 7,
  username: "ann",
  channel_id: 0,
  group: "vip",
  model: "suno_music",
  action: "MUSIC",
  status: "IN_PROGRESS",
  progress: "30%",
  fail_reason: "",
  prompt: "rain",
  quota: 50_000,
  refunded: 0,
  request_id: "call-1",
  submit_time: 1,
  start_time: 1,
  finish_time: 0,
  task_id: "task_5",
  platform: "suno",
};

test.each([
  ["a picture", { kind: "drawing", prompt: " a cat " }, "/pg/mj/submit/imagine", { prompt: "a cat", group: "g" }],
  [
    "music by a description",
    { kind: "music", prompt: "rain" },
    "/pg/suno/submit/music",
    { gpt_description_prompt: "rain", group: "g" },
  ],
  [
    "music by its words",
    { kind: "music", prompt: "la", title: "T", tags: "folk", instrumental: true },
    "/pg/suno/submit/music",
    { prompt: "la", title: "T", tags: "folk", make_instrumental: true, group: "g" },
  ],
  ["lyrics", { kind: "lyrics", prompt: "rain" }, "/pg/suno/submit/lyrics", { prompt: "rain", group: "g" }],
  [
    "a video",
    { kind: "video", prompt: "sea", model: "m", seconds: 5, ratio: "9:16" },
    "/pg/v1/videos",
    { prompt: "sea", model: "m", seconds: 5, aspect_ratio: "9:16", group: "g" },
  ],
  [
    "a video as the vendor likes it",
    { kind: "video", prompt: "sea", model: "m" },
    "/pg/v1/videos",
    { prompt: "sea", model: "m", group: "g" },
  ],
  [
    "a picture by pictures",
    { kind: "drawing", prompt: "a cat", images: ["data:1"] },
    "/pg/mj/submit/imagine",
    { prompt: "a cat", base64Array: ["data:1"], group: "g" },
  ],
  [
    "a blend",
    { kind: "blend", images: ["data:1", "data:2"] },
    "/pg/mj/submit/blend",
    { base64Array: ["data:1", "data:2"], group: "g" },
  ],
  [
    "a description of the first picture",
    { kind: "describe", images: ["data:1", "data:2"] },
    "/pg/mj/submit/describe",
    { base64: "data:1", group: "g" },
  ],
  [
    "a video from a picture",
    { kind: "video", model: "m", images: ["data:1"] },
    "/pg/v1/videos",
    { model: "m", image: "data:1", group: "g" },
  ],
  [
    "a video from pictures",
    { kind: "video", prompt: "sea", model: "m", images: ["data:1", "data:2"] },
    "/pg/v1/videos",
    { model: "m", prompt: "sea", images: ["data:1", "data:2"], group: "g" },
  ],
] as const)("%s becomes the public call with the session", (_, part, path, body) => {
  expect(jobCall({ ...emptyJob, ...part }, "g")).toEqual({ path, body });
});

test("a job is complete with its words, or with as many pictures as its kind asks for", () => {
  const complete = (part: Partial<typeof emptyJob>) => canSubmit({ ...emptyJob, ...part });
  expect(
    ["drawing", "music", "lyrics", "video"].map((kind) => complete({ kind: kind as "music", prompt: "x" })),
  ).toEqual([true, true, true, true]);
  expect([complete({ kind: "drawing", images: ["1"] }), complete({ kind: "video", images: ["1"] })]).toEqual([
    false,
    true,
  ]);
  expect([1, 2].map((count) => complete({ kind: "blend", images: Array<string>(count).fill("1") }))).toEqual([
    false,
    true,
  ]);
  expect([complete({ kind: "describe", prompt: "x" }), complete({ kind: "describe", images: ["1"] })]).toEqual([
    false,
    true,
  ]);
});

test("only kinds that the group has a model for are offered; without any it says so", async () => {
  await openPage(<Tab models={["gpt-4o", "suno_music", "kling-v1"]} />, "/playground");
  expect(screen.getAllByRole("radio").map((radio) => radio.textContent)).toEqual(["音乐", "视频"]);
  closePage();
  await openPage(<Tab models={["gpt-4o"]} />, "/playground");
  expect(screen.queryAllByRole("radio")).toEqual([]);
  expect(screen.getByText("没有可以提交的任务")).toBeDefined();
});

test("a submitted job is watched: progress, files and price are shown as the server reports them", async () => {
  let status = "IN_PROGRESS";
  const sent: unknown[] = [];
  const { user } = await openPage(<Tab models={["suno_music"]} />, "/playground", {
    procedures: {
      "task.list": () => ({ items: [row], page: 1, page_size: 10, total: 1, total_exact: true }),
      "task.get": () => ({
        ...row,
        status,
        progress: status === "SUCCESS" ? "100%" : "30%",
        data: [],
        cancellable: false,
        files: status === "SUCCESS" ? [{ media: "audio", url: "/api/task/file?id=5&n=0" }] : [],
      }),
    },
    paths: {
      "/pg/suno/submit/music": async (request) => {
        sent.push({ body: await request.json(), user: request.headers.get("new-api-user") });
        return Response.json({ code: "success", message: "", data: "task_5" });
      },
    },
  });
  const button = () => screen.getByRole("button", { name: "提交任务" });
  expect(button()).toHaveProperty("disabled", true);
  await user.type(screen.getByRole("textbox", { name: "提示词" }), "rain");
  await user.click(button());
  expect(await screen.findByText("执行中")).toBeDefined();
  expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("30");
  expect(sent).toEqual([{ body: { gpt_description_prompt: "rain", group: "vip" }, user: "7" }]);
  expect(screen.getByRole("link", { name: /费用/ }).getAttribute("href")).toBe("/log?request_id=call-1");
  status = "SUCCESS";
  await waitFor(() => expect(screen.getByText("成功")).toBeDefined(), { timeout: 20_000 });
  expect(document.querySelector("audio")?.getAttribute("src")).toBe("/api/task/file?id=5&n=0");
});

test.each([
  [Response.json({ error: { message: "余额不足" } }, { status: 403 }), "余额不足"],
  [Response.json({ code: "insufficient", message: "没有渠道", data: null }, { status: 503 }), "没有渠道"],
  [new Response("<html>", { status: 502, statusText: "Bad Gateway" }), "502 Bad Gateway"],
  [Response.json({ code: "success", data: null }), "200"],
])("a refusal says why, and what was written stays (%#)", async (answer, words) => {
  const { user } = await openPage(<Tab models={["suno_lyrics"]} />, "/playground", {
    paths: { "/pg/suno/submit/lyrics": () => answer.clone() },
  });
  await user.type(screen.getByRole("textbox", { name: "提示词" }), "rain");
  await user.click(screen.getByRole("button", { name: "提交任务" }));
  expect((await screen.findByRole("alert")).textContent).toContain(words);
  expect(screen.getByRole("textbox", { name: "提示词" })).toHaveProperty("value", "rain");
  expect(screen.queryByRole("article")).toBeNull();
});

test("a refused drawing shows the vendor's message", async () => {
  const { user } = await openPage(<Tab models={["mj_imagine"]} />, "/playground", {
    paths: { "/pg/mj/submit/imagine": () => Response.json({ code: 24, description: "banned prompt", properties: {} }) },
  });
  await user.type(screen.getByRole("textbox", { name: "提示词" }), "x");
  await user.click(screen.getByRole("button", { name: "提交任务" }));
  expect((await screen.findByRole("alert")).textContent).toBe("banned prompt");
});

/** A browser reads pictures; this document does not. */
function readsPictures(): () => void {
  const before = {
    bitmap: globalThis.createImageBitmap,
    context: HTMLCanvasElement.prototype.getContext,
    url: HTMLCanvasElement.prototype.toDataURL,
  };
  globalThis.createImageBitmap = (async (file: Blob) => {
    if (file.size === 0) throw new Error("no picture");
    return { width: 2, height: 2, close: () => {} };
  }) as typeof createImageBitmap;
  HTMLCanvasElement.prototype.getContext = (() => ({
    fillRect: () => {},
    drawImage: () => {},
  })) as unknown as typeof before.context;
  HTMLCanvasElement.prototype.toDataURL = () => "data:image/jpeg;base64,AAAA";
  return () => {
    globalThis.createImageBitmap = before.bitmap;
    HTMLCanvasElement.prototype.getContext = before.context;
    HTMLCanvasElement.prototype.toDataURL = before.url;
  };
}

test("pictures are attached, taken away again and sent; a file that is none is named", async () => {
  const restore = readsPictures();
  const sent: unknown[] = [];
  try {
    const { user } = await openPage(
      <>
        <Tab models={["mj_blend"]} />
        <Toasts />
      </>,
      "/playground",
      {
        paths: {
          "/pg/mj/submit/blend": async (request) => {
            sent.push(await request.json());
            return Response.json({ code: 1, description: "", properties: {}, result: "task_9" });
          },
        },
        procedures: { "midjourney.list": () => ({ items: [], page: 1, page_size: 10, total: 0, total_exact: true }) },
      },
    );
    const submit = () => screen.getByRole("button", { name: "提交任务" });
    const file = (name: string, bytes = "x") => new File([bytes], name, { type: "image/png" });
    await user.upload(screen.getByLabelText("选择图片"), [
      file("a.png"),
      file("b.png"),
      file("c.png"),
      file("broken.png", ""),
    ]);
    expect((await screen.findAllByRole("img")).map((image) => image.getAttribute("alt"))).toEqual([
      "附图 1",
      "附图 2",
      "附图 3",
    ]);
    expect(await screen.findByText("无法读取图片 broken.png")).toBeDefined();
    await user.click(screen.getByRole("button", { name: "移除附图 1" }));
    await user.click(screen.getByRole("button", { name: "移除附图 1" }));
    expect(submit()).toHaveProperty("disabled", true);
    await user.upload(screen.getByLabelText("选择图片"), [file("d.png")]);
    await waitFor(() => expect(submit()).toHaveProperty("disabled", false));
    await user.click(submit());
    await waitFor(() =>
      expect(sent).toEqual([
        { base64Array: ["data:image/jpeg;base64,AAAA", "data:image/jpeg;base64,AAAA"], group: "vip" },
      ]),
    );
    expect(screen.queryAllByRole("img")).toEqual([]);
  } finally {
    restore();
  }
});

test("what broke on the way is the same job when it is sent again; after a refusal or a change it is another", async () => {
  const keys: (string | null)[] = [];
  const answers = [
    () => {
      throw new TypeError("Failed to fetch");
    },
    () => Response.json({ message: "没有渠道" }, { status: 503 }),
  ];
  const { user } = await openPage(<Tab models={["suno_lyrics"]} />, "/playground", {
    paths: {
      "/pg/suno/submit/lyrics": (request) => {
        keys.push(request.headers.get("idempotency-key"));
        return (answers[keys.length - 1] ?? answers[1])?.() ?? Response.error();
      },
    },
  });
  const box = screen.getByRole("textbox", { name: "提示词" });
  const submit = async (words: string) => {
    await user.click(screen.getByRole("button", { name: "提交任务" }));
    await waitFor(() => expect(screen.getByRole("alert").textContent).toContain(words));
  };
  await user.type(box, "rain");
  await submit("Failed to fetch");
  await submit("没有渠道");
  await submit("没有渠道");
  expect(keys).toHaveLength(3);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect([keys[1] === keys[0], keys[2] === keys[1]]).toEqual([true, false]);
});
