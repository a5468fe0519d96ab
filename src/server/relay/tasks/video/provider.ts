/** A vendor of videos as a provider of the engine: price, stored state, and what is shown. */
import { isCallers } from "../../../../shared/failures";
import type { ChannelTypeKey } from "../../../../shared/channel-types";
import type { TaskPlatform } from "../../../../shared/task";
import { videoFactors, type VideoSpec, videoTariff, videoTokens } from "../../../../shared/video-tariffs";
import { compact, flag, isObject, list, number, text } from "../../../protocol/dialects/shared/json";
import type { WireObject } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import { failureOf } from "../../../protocol/upstream-failure";
import type { JsonObject } from "../../../lib/json-bytes";
import { ordinary } from "../../providers/ordinary";
import type { Terms } from "../../../protocol/call-terms";
import type { PoolChannel } from "../../../contracts/channel";
import type { TaskProvider, TaskReport, TaskRequest, TaskProviderContext } from "../provider";
import type { ResultFile } from "../../../contracts/task-service";
import type { Priced, Task } from "../../../contracts/task-store";
import type { VideoRequest } from "./ask";
import type { Place, VendorCall, VendorJob, VideoReport, VideoUse, VideoVendor } from "./vendor";

/** A new version of the caller's finished video. */
export const REMIX = "remixGenerate";

/** The price terms of a video, from the request and the result. */
const specOf = (input: JsonObject, use: VideoUse = {}): VideoSpec =>
  compact({
    seconds: use.seconds ?? number(input.seconds),
    resolution: use.resolution ?? (text(input.resolution) || undefined),
    audio: flag(input.audio),
    n: use.n ?? number(input.n),
  });

/**
 * Price factors belong to the model that the caller names; for the operator's own model names, to the vendor's model.
 */
const factorsOf = (asked: string, model: string, spec: VideoSpec) =>
  videoFactors(videoTariff(asked) ? asked : model, spec);

/** Tokens with sound are in another bucket, which has its own price. */
const tokenUsage = (tokens: number, audio: boolean): Priced["usage"] =>
  audio ? { audio_out: tokens } : { output: tokens };

interface Traits {
  readonly platform: TaskPlatform;
  /** Models that the vendor makes this way; absent: all that the channel lists. */
  readonly models?: RegExp;
  /** Billed by tokens if the model has no price per call. */
  readonly tokens?: true;
  /** Makes sound unless the caller turns it off. */
  readonly sound?: RegExp;
}

/** How a vendor is called, by channel type. */
export type Vendors = readonly [
  first: readonly [ChannelTypeKey, VideoVendor],
  ...more: (readonly [ChannelTypeKey, VideoVendor])[],
];

/** What the engine stores of a video beside its row. */
interface Own {
  /** The vendor's name of the model. */
  readonly model: string;
  readonly kind: string;
  readonly files: readonly string[];
  readonly media: "image" | "video";
}

function ownOf({ state: { own } }: Pick<Task, "state">): Own {
  const files = list(own.files).filter((file) => typeof file === "string");
  return { model: text(own.model), kind: text(own.kind), files, media: own.media === "image" ? "image" : "video" };
}

const jobOf = (task: Task): VendorJob => ({ upstream_id: task.upstream_id, kind: ownOf(task).kind });

/**
 * A vendor's call as the engine sends it. `known`: accepts responses that are not errors although they look like one.
 */
async function requestOf(
  vendor: VideoVendor,
  call: VendorCall,
  channel: PoolChannel,
  context: TaskProviderContext,
  known: (answer: WireObject) => boolean,
): Promise<TaskRequest> {
  const { sign } = vendor;
  return {
    method: call.method,
    url: call.url,
    headers: { ...(await headersOf(vendor, channel, context)), ...call.headers },
    ...((call.form ?? call.body) !== undefined && { body: call.form ?? call.body }),
    ...(sign && { sign: (body, headers) => ({ ...headers, ...sign(call, channel, context.now(), body) }) }),
    readError: (answer) => (isObject(answer) && known(answer) ? undefined : vendor.readError(answer)),
  };
}

const headersOf = async (
  { headers }: VideoVendor,
  channel: PoolChannel,
  context: TaskProviderContext,
): Promise<Record<string, string>> => (headers ? headers(channel, context) : ordinary.headers(channel));

/** Files are at public URLs. */
const isPublic = ({ content, locate, inline }: VideoVendor): boolean => !content && !locate && !inline;

/** A response about a job, and the report in it. */
interface PolledJob {
  answer: WireObject;
  report: VideoReport;
}

/** The report in the engine's form. */
function taskReport(vendor: VideoVendor, traits: Traits, task: Task, report: VideoReport): TaskReport {
  if (report.status === "failed") {
    const { code, message } = report;
    return { status: "FAILURE", fail_reason: message || code, data: { error: { code, message: message || code } } };
  }
  if (report.status !== "succeeded") {
    const percent = report.progress;
    return { status: report.status === "queued" ? "QUEUED" : "IN_PROGRESS", ...(percent !== undefined && { percent }) };
  }
  const { files, use, media } = report;
  const own = { ...task.state.own, files, ...(media && { media }) };
  // A URL that needs the channel's key is not shown: the content route serves the file.
  const data = compact({
    ...(isPublic(vendor) ? { url: files[0], files } : { count: files.length }),
    media,
    seconds: use?.seconds,
    resolution: use?.resolution,
  });
  return { status: "SUCCESS", own, data, ...(use && { final: pricedAt(traits, task, use) }) };
}

/** The price terms of the result; what the vendor does not report is taken from the request. */
function pricedAt(traits: Traits, { model, input, state }: Task, use: VideoUse): Priced {
  const spec = specOf(input, use);
  const factors = factorsOf(model, ownOf({ state }).model, spec);
  return { usage: usageOf(traits, ownOf({ state }).model, spec, use.tokens), times: { factors } };
}

function usageOf({ tokens, sound }: Traits, model: string, spec: VideoSpec, counted?: number): Priced["usage"] {
  if (!tokens) return {};
  return tokenUsage(counted ?? videoTokens(spec), spec.audio ?? sound?.test(model) ?? false);
}

/** The provider of a vendor, with its API for each channel type. */
export function videoProvider(traits: Traits, vendors: Vendors): TaskProvider<VideoRequest> {
  const [[, first]] = vendors;
  const vendorOf = ({ type }: PoolChannel): VideoVendor => vendors.find(([key]) => key === type.key)?.[1] ?? first;
  const pollJob = async (task: Task, channel: PoolChannel, context: TaskProviderContext): Promise<PolledJob> => {
    const vendor = vendorOf(channel);
    const place: Place = { channel, model: ownOf(task).model };
    const request = await requestOf(
      vendor,
      vendor.poll(jobOf(task), place),
      channel,
      context,
      (answer) => vendor.report(answer) !== undefined,
    );
    try {
      const answer = await context.json(request);
      const report = vendor.report(answer);
      if (!report) throw new UpstreamError(failureOf("malformed"));
      return { answer, report };
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused) throw error;
      return { answer: {}, report: refused };
    }
  };
  return {
    platform: traits.platform,
    types: vendors.map(([key]) => key),
    serves: (channel, model, _, action) =>
      (traits.models?.test(model) ?? true) && (action !== REMIX || vendorOf(channel).remix !== undefined),
    terms(input, model, _action, parent): Terms {
      // A remix has the duration and size of its original.
      const spec = parent ? specOf(parent.input) : specOf({ ...input });
      const asked = parent?.model ?? input.model;
      const tariff = videoTariff(asked) ?? videoTariff(model);
      const { seconds = tariff?.seconds, resolution = tariff?.resolution } = spec;
      const times = { factors: factorsOf(asked, model, spec) };
      return { usage: usageOf(traits, model, spec), times, shown: { seconds, resolution }, exact: true };
    },
    async submit({ channel, model, input, action, parent }, context) {
      const vendor = vendorOf(channel);
      const place: Place = { channel, model };
      const call: VendorCall & { readonly kind?: string } =
        action === REMIX && parent && vendor.remix
          ? vendor.remix(jobOf(parent), input.prompt, place)
          : vendor.submit(input, place);
      const answer = await context.json(
        await requestOf(vendor, call, channel, context, (said) => vendor.accepted(said) !== undefined),
      );
      const upstream_id = vendor.accepted(answer);
      if (upstream_id === undefined) throw new UpstreamError(failureOf("malformed", 200));
      return { upstream_id, own: { model, kind: call.kind ?? "", files: [] } };
    },
    async poll([task], channel, context) {
      if (!task) return new Map();
      const { report } = await pollJob(task, channel, context);
      return new Map([[task.upstream_id, taskReport(vendorOf(channel), traits, task, report)]]);
    },
    hasResult: (task) => ownOf(task).files.length > 0,
    async files(task, channel, context): Promise<ResultFile[]> {
      if (channel && context)
        return filesAt(vendorOf(channel), task, { channel, model: ownOf(task).model }, context, () =>
          pollJob(task, channel, context),
        );
      // A file that only the channel has is gone with it.
      const { files, media } = ownOf(task);
      return isPublic(first) ? files.map(publicFile(media)) : [];
    },
    ...(first.remove && {
      async forget(task, channel, context) {
        const vendor = vendorOf(channel);
        const call = vendor.remove?.(jobOf(task), { channel, model: ownOf(task).model });
        if (call) await ignoringBody(context.json(await requestOf(vendor, call, channel, context, () => false)));
      },
    }),
    ...(first.cancel && {
      async cancel(task, channel, context) {
        const vendor = vendorOf(channel);
        const call = vendor.cancel?.(jobOf(task), { channel, model: ownOf(task).model });
        if (!call) throw new UpstreamError(failureOf("malformed"));
        await ignoringBody(context.json(await requestOf(vendor, call, channel, context, () => false)));
        return taskReport(vendor, traits, task, (await pollJob(task, channel, context)).report);
      },
    }),
  };
}

/**
 * A poll that the vendor answers with an error of the caller, in its own message: the job is gone, or its result may
 * not be returned. Any other error (no response, overload, a bad key) says nothing about the job.
 */
function refusalOf(error: unknown): VideoReport | undefined {
  if (!(error instanceof UpstreamError) || !isCallers(error.failure.kind) || !error.failure.error) return undefined;
  const { code, message } = error.failure.error;
  return { status: "failed", code: code || String(error.failure.upstream_status), message };
}

/** A request whose response is ignored: it may be empty. */
async function ignoringBody(request: Promise<unknown>): Promise<void> {
  try {
    await request;
  } catch (error) {
    const { failure } = error instanceof UpstreamError ? error : { failure: undefined };
    if (failure?.kind !== "malformed" || failure.upstream_status < 200 || failure.upstream_status > 299) throw error;
  }
}

const publicFile =
  (media: ResultFile["media"]) =>
  (url: string): ResultFile => ({ url, from: "public", media });

/** Files of a finished job, with a channel to call. `again` polls the job once more. */
async function filesAt(
  vendor: VideoVendor,
  task: Task,
  place: Place,
  context: TaskProviderContext,
  again: () => Promise<PolledJob>,
): Promise<ResultFile[]> {
  const { files, media } = ownOf(task);
  const { content, locate, inline, link_seconds = 0 } = vendor;
  if (inline) {
    return files.map((_, index) => ({
      from: "answer",
      media: "video",
      async read() {
        const found = inline((await again()).answer, index);
        return found && { type: found.type, bytes: Buffer.from(found.base64, "base64") };
      },
    }));
  }
  if (content) {
    const headers = await headersOf(vendor, place.channel, context);
    return files.flatMap((file) =>
      content(jobOf(task), file, place).map(({ url, media }): ResultFile => ({ url, from: "channel", headers, media })),
    );
  }
  if (locate) {
    const found = await Promise.all(
      files.map(async (file) => {
        const request = await requestOf(vendor, locate.call(file, place), place.channel, context, () => false);
        return locate.read(await context.json(request));
      }),
    );
    return found.flatMap((url) => (url === undefined ? [] : [publicFile(media)(url)]));
  }
  if (link_seconds > 0 && context.now() - task.finish_time_ms > link_seconds * 1000) {
    const { report } = await again();
    if (report.status === "succeeded" && report.files.length > 0) return report.files.map(publicFile(media));
  }
  return files.map(publicFile(media));
}
