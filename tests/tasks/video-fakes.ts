/**
 * Video vendors in memory, one script each: how a job is submitted, polled and cancelled, and its reports. Responses
 * are the examples of the vendors' documents (pages and dates are in src/server/relay/tasks/video/*.ts), shortened.
 */
import type { Asked, FakeVendor } from "./kit";

export interface Script {
  name: string;
  /** The channel's settings. */
  type: number;
  key: string;
  model: string;
  /** Submits it at /v1/video/generations. */
  ask: Record<string, unknown>;
  /** Units held and charged. */
  units: number;
  /** Routes of the vendor. */
  submit: string;
  poll: string;
  cancel?: string;
  accepted: object;
  queued: object;
  running: object;
  done: object;
  failed: object;
  /** The reason of `failed` that the owner sees. */
  reason: string;
  /** A finished job whose result differs from the request, and its cost. */
  other?: { done: object; units: number };
  stopped?: object;
  /** The channel's credentials, in `authorization` or `x-goog-api-key`. */
  authorization: RegExp;
  /** The public URL of the file; absent: only Weir's own route has it. */
  url?: string;
}

const UNIT = 500_000;
const klingData = { task_id: "867283741759111202", created_at: 1774805076166, updated_at: 1774805076166 };
const klingAnswer = (more: object) => ({
  code: 0,
  message: "SUCCEED",
  request_id: "c0656403",
  data: { ...klingData, ...more },
});
const klingDone = (duration: string) =>
  klingAnswer({
    task_status: "succeed",
    task_result: { videos: [{ id: "v1", url: "https://cdn.test/kling.mp4", duration }] },
  });
const jimengAnswer = (data: object | null, code = 10_000, message = "Success") => ({
  code,
  data,
  message,
  request_id: "20250805",
  status: code,
  time_elapsed: "1ms",
});
const wanAnswer = (task_status: string, more: object = {}, usage?: object) => ({
  request_id: "caa62a12",
  output: { task_id: "0385dc79", task_status, ...more },
  ...(usage && { usage }),
});
const wanDone = (duration: number, SR: number) =>
  wanAnswer(
    "SUCCEEDED",
    { video_url: "https://cdn.test/wan.mp4" },
    { duration, input_video_duration: 0, output_video_duration: duration, video_count: 1, SR },
  );
const arkAnswer = (status: string, more: object = {}) => ({
  id: "cgt-2025",
  model: "doubao-seedance-1-0-pro-250528",
  status,
  ...more,
});
const arkDone = (tokens: number) =>
  arkAnswer("succeeded", {
    content: { video_url: "https://cdn.test/ark.mp4" },
    resolution: "720p",
    duration: 5,
    usage: { completion_tokens: tokens, total_tokens: tokens },
  });
const base_resp = { status_code: 0, status_msg: "success" };
const soraVideo = (status: string, more: object = {}) => ({
  id: "video_123",
  object: "video",
  model: "sora-2",
  status,
  progress: 0,
  created_at: 1712697600,
  size: "720x1280",
  seconds: "8",
  ...more,
});
const operation = "models/veo-3.1-generate-preview/operations/3k9x";
const uri = "https://generativelanguage.googleapis.com/v1beta/files/abc:download?alt=media";

export const scripts: readonly Script[] = [
  {
    name: "Sora",
    type: 55,
    key: "sk-sora",
    model: "sora-2",
    ask: { seconds: "8", size: "720x1280" },
    units: 0.8 * UNIT,
    submit: "POST /v1/videos",
    poll: "GET /v1/videos/video_123",
    authorization: /^Bearer sk-sora$/,
    accepted: soraVideo("queued"),
    queued: soraVideo("queued"),
    running: soraVideo("in_progress", { progress: 33 }),
    done: soraVideo("completed", { progress: 100 }),
    failed: soraVideo("failed", { error: { code: "moderation_blocked", message: "Your request was blocked" } }),
    reason: "Your request was blocked",
    other: { done: soraVideo("completed", { seconds: "4" }), units: 0.4 * UNIT },
  },
  {
    name: "Kling",
    type: 50,
    key: "ak|sk",
    model: "kling-v2-5-turbo",
    ask: { duration: 5, mode: "pro" },
    units: 0.35 * UNIT,
    submit: "POST /v1/videos/text2video",
    poll: "GET /v1/videos/text2video/867283741759111202",
    authorization: /^Bearer ey/,
    accepted: klingAnswer({ task_status: "submitted" }),
    queued: klingAnswer({ task_status: "submitted" }),
    running: klingAnswer({ task_status: "processing" }),
    done: klingDone("5.042"),
    failed: klingAnswer({ task_status: "failed", task_status_msg: "Failure to pass the risk control system" }),
    reason: "Failure to pass the risk control system",
    other: { done: klingDone("10.041"), units: 0.7 * UNIT },
    url: "https://cdn.test/kling.mp4",
  },
  {
    name: "Jimeng",
    type: 51,
    key: "AKLT|secret",
    model: "jimeng_ti2v_v30_pro",
    ask: { duration: 5 },
    units: 0.7 * UNIT,
    submit: "POST /",
    poll: "POST /",
    authorization: /^HMAC-SHA256 Credential=AKLT\/\d{8}\/cn-north-1\/cv\/request, SignedHeaders=/,
    accepted: jimengAnswer({ task_id: "7392616336519610409" }),
    queued: jimengAnswer({ status: "in_queue" }),
    running: jimengAnswer({ status: "generating" }),
    done: jimengAnswer({ status: "done", video_url: "https://cdn.test/jimeng.mp4" }),
    failed: jimengAnswer(null, 50_511, "Post Img Risk Not Pass"),
    reason: "Post Img Risk Not Pass",
    url: "https://cdn.test/jimeng.mp4",
  },
  {
    name: "Veo",
    type: 24,
    key: "AIza-key",
    model: "veo-3.1-fast-generate-preview",
    ask: { seconds: 4, size: "1920x1080" },
    units: 0.48 * UNIT,
    submit: "POST /v1beta/models/veo-3.1-fast-generate-preview:predictLongRunning",
    poll: `GET /v1beta/${operation}`,
    authorization: /^AIza-key$/,
    accepted: { name: operation },
    queued: { name: operation },
    running: { name: operation, metadata: { progressPercent: 40 } },
    done: {
      name: operation,
      done: true,
      response: { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } },
    },
    failed: {
      name: operation,
      done: true,
      response: {
        generateVideoResponse: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ["No video for this prompt"] },
      },
    },
    reason: "No video for this prompt",
  },
  {
    name: "Wan",
    type: 17,
    key: "sk-wan",
    model: "wan2.7-t2v",
    ask: { duration: 10, resolution: "720P" },
    units: 1 * UNIT,
    submit: "POST /api/v1/services/aigc/video-generation/video-synthesis",
    poll: "GET /api/v1/tasks/0385dc79",
    cancel: "POST /api/v1/tasks/0385dc79/cancel",
    authorization: /^Bearer sk-wan$/,
    accepted: wanAnswer("PENDING"),
    queued: wanAnswer("PENDING"),
    running: wanAnswer("RUNNING"),
    done: wanDone(10, 720),
    failed: wanAnswer("FAILED", {
      code: "DataInspectionFailed",
      message: "Output data may contain inappropriate content",
    }),
    reason: "Output data may contain inappropriate content",
    other: { done: wanDone(5, 1080), units: 0.75 * UNIT },
    stopped: wanAnswer("CANCELED"),
    url: "https://cdn.test/wan.mp4",
  },
  {
    // 720p, 5 s: 108900 tokens are held (video-tariffs.ts), at 2.5 USD a million.
    name: "Seedance",
    type: 54,
    key: "ark-key",
    model: "doubao-seedance-1-0-pro-250528",
    ask: { duration: 5, resolution: "720p" },
    units: 136_125,
    submit: "POST /api/v3/contents/generations/tasks",
    poll: "GET /api/v3/contents/generations/tasks/cgt-2025",
    cancel: "DELETE /api/v3/contents/generations/tasks/cgt-2025",
    authorization: /^Bearer ark-key$/,
    accepted: { id: "cgt-2025" },
    queued: arkAnswer("queued"),
    running: arkAnswer("running"),
    done: arkDone(108_900),
    failed: arkAnswer("failed", {
      error: { code: "OutputVideoSensitiveContentDetected", message: "The output may contain sensitive information" },
    }),
    reason: "The output may contain sensitive information",
    other: { done: arkDone(100_000), units: 125_000 },
    stopped: arkAnswer("cancelled"),
    url: "https://cdn.test/ark.mp4",
  },
  {
    name: "Vidu",
    type: 52,
    key: "vda_key",
    model: "viduq3-pro",
    ask: { duration: 5 },
    units: 0.5 * UNIT,
    submit: "POST /ent/v2/text2video",
    poll: "GET /ent/v2/tasks/v1/creations",
    cancel: "POST /ent/v2/tasks/v1/cancel",
    authorization: /^Token vda_key$/,
    accepted: { task_id: "v1", state: "created", model: "viduq3-pro", credits: 100 },
    queued: { id: "v1", state: "queueing" },
    running: { id: "v1", state: "processing" },
    done: { id: "v1", state: "success", err_code: "", creations: [{ id: "c1", url: "https://cdn.test/vidu.mp4" }] },
    failed: { id: "v1", state: "failed", err_code: "CreationPolicyViolation" },
    reason: "CreationPolicyViolation",
    stopped: { id: "v1", state: "failed", err_code: "UserCancelled" },
    url: "https://cdn.test/vidu.mp4",
  },
  {
    name: "Hailuo",
    type: 35,
    key: "mm-key",
    model: "MiniMax-Hailuo-2.3",
    ask: { duration: 6 },
    units: 0.28 * UNIT,
    submit: "POST /v1/video_generation",
    poll: "GET /v1/query/video_generation",
    authorization: /^Bearer mm-key$/,
    accepted: { task_id: "361720188367060", base_resp },
    queued: { task_id: "1", status: "Queueing", base_resp },
    running: { task_id: "1", status: "Processing", base_resp },
    done: {
      task_id: "1",
      status: "Success",
      file_id: "361721749176519",
      video_width: 1366,
      video_height: 768,
      base_resp,
    },
    failed: { task_id: "1", status: "Fail", base_resp: { status_code: 1027, status_msg: "output new_sensitive" } },
    reason: "output new_sensitive",
  },
  {
    name: "Replicate",
    type: 56,
    key: "r8_key",
    model: "google/veo-3.1-fast",
    ask: { duration: 4 },
    units: 0.25 * UNIT,
    submit: "POST /v1/models/google/veo-3.1-fast/predictions",
    poll: "GET /v1/predictions/gm3q",
    cancel: "POST /v1/predictions/gm3q/cancel",
    authorization: /^Bearer r8_key$/,
    accepted: { id: "gm3q", status: "starting", output: null, error: null },
    queued: { id: "gm3q", status: "starting" },
    running: { id: "gm3q", status: "processing" },
    done: { id: "gm3q", status: "succeeded", output: "https://cdn.test/replicate.mp4" },
    failed: { id: "gm3q", status: "failed", error: "NSFW content detected" },
    reason: "NSFW content detected",
    stopped: { id: "gm3q", status: "canceled" },
    url: "https://cdn.test/replicate.mp4",
  },
];

export const script = (name: string): Script => {
  const found = scripts.find((one) => one.name === name);
  if (!found) throw new Error(`no script ${name}`);
  return found;
};

/** Plays a script: the job's report is the last one that a test set. */
export class FakeMaker {
  said: object;

  constructor(
    readonly vendor: FakeVendor,
    readonly its: Script,
  ) {
    this.said = its.queued;
    const asksForResult = ({ query }: Asked): boolean => query.get("Action") === "CVSync2AsyncGetResult";
    vendor.on(its.poll, () => this.said);
    vendor.on(its.submit, (asked) => (its.submit === its.poll && asksForResult(asked) ? this.said : its.accepted));
    const { cancel, stopped } = its;
    if (cancel && stopped) {
      vendor.on(cancel, () => {
        this.said = stopped;
        return {};
      });
    }
  }

  /** The submits that reached it, oldest first. */
  get submits(): Asked[] {
    const [method = "", path = ""] = this.its.submit.split(" ");
    return this.vendor.asked.filter(
      (asked) =>
        asked.method === method && asked.path === path && asked.query.get("Action") !== "CVSync2AsyncGetResult",
    );
  }
}
