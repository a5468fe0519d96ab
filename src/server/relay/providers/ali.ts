/**
 * Alibaba Cloud Model Studio: OpenAI's format at its own paths, except for images and the older rerankers. Many image
 * models are asynchronous: one call creates a job, others poll it until it is done (help.aliyun.com/zh/model-studio:
 * text-to-image-v2-api-reference, qwen-image-api, qwen-image-edit-api, wan2-5-image-edit-api-reference,
 * wan-image-generation-api-reference, wanx-image-edit, manage-asynchronous-tasks, text-rerank-api; error-code; read
 * November 2026).
 */
import { type ErrorKind, wireError } from "../../protocol/dialects/shared/error-kind";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { compact, isObject, object, objects, text } from "../../protocol/dialects/shared/json";
import { dataUrlOf } from "../../protocol/dialects/shared/media";
import { readError as readOpenai } from "../../protocol/dialects/openai-chat/error";
import type { WireError, WireObject } from "../../protocol/chat-events";
import { afterAcceptance, UpstreamError } from "../../protocol/upstream-error";
import { classifyStatus } from "../../protocol/upstream-failure";
import { tryParse } from "../../lib/json-bytes";
import { replaceBody } from "./framing";
import { ordinary } from "./ordinary";
import { picturesOf, refuseMask, refuseStream, whiteMaskOf } from "./pictures";
import type { DirectCodec, Outgoing, Provider, ProviderContext } from "./provider";
import { send } from "./provider-context";

const PICTURE_JOB = "/api/v1/services/aigc/text2image/image-synthesis";
const EDIT_JOB = "/api/v1/services/aigc/image2image/image-synthesis";
const PICTURE_NOW = "/api/v1/services/aigc/multimodal-generation/generation";
const RERANK = "/api/v1/services/rerank/text-rerank/text-rerank";

/** Models whose images are asynchronous jobs; the newer ones answer at once. */
const isJob = (model: string): boolean =>
  /^(?:wanx|wan2\.[0-5]-|flux|stable-diffusion|qwen-image(?:-plus)?$)/.test(model);
/** Jobs that edit images; the older one, wanx2.1-imageedit, has its own format. */
const isEditJob = (model: string): boolean => /^(?:wanx[\w.-]*-imageedit|wan2\.5-i2i)/.test(model);
const isOldEditor = (model: string): boolean => model.startsWith("wanx");
/** Rerankers that are not at the compatible path. */
const isOldReranker = (model: string): boolean => model.startsWith("gte-rerank");

/** Poll intervals: short at first, for the fast models. The vendor allows 20 polls a second per account. */
const FIRST_POLL_MS = 500;
const LAST_POLL_MS = 3_000;
const unfinished = new Set(["PENDING", "RUNNING"]);

/** Members of OpenAI's call that Model Studio names the same. */
const pictureParameters = ["n", "seed", "prompt_extend", "watermark", "style"] as const;

/** The input of an edit job. Only the older model supports a mask. */
async function editInput(model: string, body: WireObject): Promise<WireObject> {
  const prompt = text(body.prompt);
  const pictures = picturesOf(body);
  const [picture, second] = pictures;
  if (picture === undefined) throw new RequestFault("image", "this model edits pictures, it makes none");
  if (!isOldEditor(model)) {
    refuseMask(body);
    return compact({ prompt, images: pictures, negative_prompt: body.negative_prompt });
  }
  if (second !== undefined) throw new RequestFault("image", "this model edits one picture");
  const mask = await whiteMaskOf(body);
  if (mask === undefined) return { function: "description_edit", prompt, base_image_url: picture };
  return {
    function: "description_edit_with_mask",
    prompt,
    base_image_url: picture,
    mask_image_url: dataUrlOf("image/png", mask),
  };
}

const images: DirectCodec = {
  edits: true,
  async encode(body, { model }) {
    const { size, negative_prompt, response_format } = body;
    refuseStream(body, "Model Studio");
    const prompt = text(body.prompt);
    const pictures = picturesOf(body);
    // Images are returned as URLs that are valid for 24 hours.
    if (response_format === "b64_json")
      throw new RequestFault("response_format", "Model Studio answers with addresses");
    const wan = model.startsWith("wan");
    const own = Object.fromEntries(pictureParameters.map((name) => [name, body[name]]));
    // Without a number Wan makes four, and charges all.
    const n = body.n ?? (wan ? 1 : undefined);
    const parameters = {
      ...own,
      n,
      size: typeof size === "string" && size !== "auto" ? size.replace("x", "*") : undefined,
    };
    if (isEditJob(model)) return { model, input: await editInput(model, body), parameters: compact(parameters) };
    refuseMask(body);
    if (!isJob(model)) {
      const messages = [{ role: "user", content: [...pictures.map((image) => ({ image })), { text: prompt }] }];
      return { model, input: { messages }, parameters: compact({ ...parameters, negative_prompt }) };
    }
    if (pictures.length > 0) throw new RequestFault("image", "this model makes pictures from words alone");
    return {
      model,
      input: compact({ prompt, negative_prompt: wan ? negative_prompt : undefined }),
      parameters: compact({ ...parameters, negative_prompt: wan ? undefined : negative_prompt }),
    };
  },
  decode({ output }) {
    const { results, choices } = object(output);
    const made = objects(results).flatMap(({ url, actual_prompt }) =>
      typeof url === "string" ? [compact({ url, revised_prompt: text(actual_prompt) || undefined })] : [],
    );
    const said = objects(choices).flatMap(({ message }) => objects(object(message).content));
    const data = [...made, ...said.flatMap(({ image }) => (typeof image === "string" ? [{ url: image }] : []))];
    return data.length > 0 ? { created: Math.floor(Date.now() / 1000), data } : undefined;
  },
};

const rerank: DirectCodec = {
  encode(body, { model }) {
    if (!isOldReranker(model)) return body;
    const { query, documents, top_n, return_documents } = body;
    return { model, input: { query, documents }, parameters: compact({ top_n, return_documents }) };
  },
  decode(answer) {
    if (Array.isArray(answer.results)) return answer;
    const { output, usage, request_id } = answer;
    const { results } = object(output);
    return Array.isArray(results) ? { id: request_id, results, usage } : undefined;
  },
};

/** Polls a job until it has ended. */
async function ended(made: Response, { channel, headers }: Outgoing, context: ProviderContext): Promise<Response> {
  let response = made;
  let bytes = await made.arrayBuffer();
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(LAST_POLL_MS, pause * 1.5)) {
    const { task_id, task_status } = object(object(tryParse(new Uint8Array(bytes))).output);
    if (typeof task_id !== "string" || !unfinished.has(text(task_status))) return replaceBody(response, bytes);
    await context.wait(pause);
    const { authorization = "" } = headers;
    const asked = await context.fetch(`${channel.base_url}/api/v1/tasks/${encodeURIComponent(task_id)}`, {
      method: "GET",
      headers: { authorization },
    });
    // Rate limited or overloaded: the job continues.
    if (asked.status === 429 || asked.status >= 500) continue;
    // The job runs at this vendor: a retry elsewhere would pay twice.
    if (!asked.ok)
      throw new UpstreamError({
        ...classifyStatus(
          context.redact,
          asked.status,
          readError(tryParse(new Uint8Array(await asked.arrayBuffer()))),
          channel.status_mapping,
        ),
        retry: "no",
      });
    response = asked;
    bytes = await asked.arrayBuffer();
  }
}

const kinds: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^(InvalidApiKey|invalid_api_key|AccessDenied\.Unpurchased)$/, "authentication"],
  [/^(Arrearage|PrepaidBillOverdue|PostpaidBillOverdue|AllocationQuota\.FreeTierOnly)$/, "quota"],
  [/^Throttling|^limit_requests|^LimitRequests/, "rate"],
  [/^(ModelNotFound|model_not_found|ModelUnavailable|Model\.AccessDenied)$/, "model"],
  [
    /^(InvalidParameter|InvalidURL|BadRequest|DataInspectionFailed|data_inspection_failed|IPInfringementSuspect)/,
    "caller",
  ],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([pattern]) => pattern.test(code))?.[1];

/** A failed job has its error inside `output`; a refused call beside `request_id`, or in OpenAI's format. */
export function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const { output } = body;
  const failed: WireObject = isObject(output) && text(output.code) !== "" ? output : body;
  if (typeof failed.code === "string" && failed.code !== "")
    return wireError(text(failed.message), failed.code, kindOf);
  const error = readOpenai(body);
  const kind = error && kindOf(error.code);
  return error && kind ? { ...error, ...wireError(error.message, error.code, kindOf) } : error;
}

export const ali: Provider = {
  url(channel, operation, model) {
    if (operation === "images")
      return channel.base_url + (isEditJob(model) ? EDIT_JOB : isJob(model) ? PICTURE_JOB : PICTURE_NOW);
    if (operation === "rerank" && isOldReranker(model)) return channel.base_url + RERANK;
    return ordinary.url(channel, operation, model);
  },
  headers(channel) {
    const headers = ordinary.headers(channel);
    return channel.other === "" ? headers : { ...headers, "x-dashscope-plugin": channel.other };
  },
  async open(outgoing, context) {
    if (outgoing.operation !== "images" || !isJob(outgoing.model)) return send(outgoing, context);
    const response = await send(
      { ...outgoing, headers: { ...outgoing.headers, "x-dashscope-async": "enable" } },
      context,
    );
    return response.ok ? afterAcceptance(context.signal, () => ended(response, outgoing, context)) : response;
  },
  readError,
  direct: { images, rerank },
};
