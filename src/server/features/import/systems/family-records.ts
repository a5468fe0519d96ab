/**
 * Records of the family that are history: paid orders, drawings, and the other jobs (model/topup.go, midjourney.go,
 * task.go of new-api, model/order.go of one-hub; columns in docs/migrate).
 */
import { MJ_MODELS } from "../../../../shared/midjourney";
import { FINAL_STATUSES, type FinalStatus, TASK_PLATFORMS, type TaskPlatform } from "../../../../shared/task";
import type { Row } from "../../../db/foreign/source";
import type { Left, SourceJob, SourceOrder } from "../records";
import type { TableUse } from "../system";
import { numberOf, objectOf, textOf, wholeOf } from "../values";

const UNPAID: Left = { left: "not paid: nothing came of it" };

const ORDER_COLUMNS = ["id", "user_id", "trade_no", "amount", "status"] as const;

const orderOf = (row: Row) => ({
  id: textOf(row, "id"),
  user: textOf(row, "user_id"),
  trade_no: textOf(row, "trade_no").trim(),
  amount: wholeOf(row, "amount"),
});

/** A top-up of new-api. `units`: per dollar there. Stripe's credits what was paid, Creem's are units already. */
export const topUps = (units: number): TableUse<SourceOrder> => ({
  table: "top_ups",
  key: "id",
  taken: [...ORDER_COLUMNS, "money", "payment_method", "create_time", "complete_time"],
  left: { payment_provider: "told by the method of payment" },
  read: (row) => {
    if (textOf(row, "status") !== "success") return UNPAID;
    const method = textOf(row, "payment_method").trim();
    const amount = numberOf(row, "amount");
    const stripe = method === "stripe";
    return {
      ...orderOf(row),
      quota: Math.round(stripe ? numberOf(row, "money") * units : method === "creem" ? amount : amount * units),
      money: numberOf(row, "money").toFixed(2),
      // Easy pay is in yuan by its protocol.
      currency: stripe || method === "creem" ? "" : "cny",
      provider: stripe ? "stripe" : "epay",
      payment_method: method,
      provider_ref: "",
      create_time: wholeOf(row, "create_time"),
      complete_time: wholeOf(row, "complete_time") || wholeOf(row, "create_time"),
    };
  },
});

/** An order of one-hub; its gateways have names of their own. */
export const hubOrders: TableUse<SourceOrder> = {
  table: "orders",
  key: "id",
  taken: [...ORDER_COLUMNS, "gateway_no", "order_amount", "order_currency", "quota", "created_at", "updated_at"],
  left: {
    gateway_id: "gateways of payment are set by hand",
    fee: "part of what was paid",
    discount: "part of what was paid",
  },
  read: (row) =>
    textOf(row, "status") === "success"
      ? {
          ...orderOf(row),
          quota: wholeOf(row, "quota"),
          money: numberOf(row, "order_amount").toFixed(2),
          currency: textOf(row, "order_currency").trim().toLowerCase(),
          provider: "epay",
          payment_method: "",
          provider_ref: textOf(row, "gateway_no"),
          create_time: wholeOf(row, "created_at"),
          complete_time: wholeOf(row, "updated_at") || wholeOf(row, "created_at"),
        }
      : UNPAID,
};

/** Why a job without an end is left: the survey asks about it. */
export const RUNNING = "still running";

/** Drawings have milliseconds, other jobs seconds. */
function milliseconds(row: Row, column: string): number {
  const time = Math.max(0, wholeOf(row, column));
  return time > 1e11 ? time : time * 1000;
}

const JOB_COLUMNS = [
  "id",
  "user_id",
  "channel_id",
  "action",
  "status",
  "progress",
  "fail_reason",
  "submit_time",
  "start_time",
  "finish_time",
  "quota",
] as const;

const jobOf = (row: Row, status: FinalStatus) => ({
  id: textOf(row, "id"),
  user: textOf(row, "user_id"),
  channel: textOf(row, "channel_id"),
  token: wholeOf(row, "token_id") > 0 ? textOf(row, "token_id") : "",
  action: textOf(row, "action"),
  group: textOf(row, "group"),
  status,
  progress: textOf(row, "progress"),
  fail_reason: textOf(row, "fail_reason"),
  submit_time_ms: milliseconds(row, "submit_time"),
  start_time_ms: milliseconds(row, "start_time"),
  finish_time_ms: milliseconds(row, "finish_time"),
  quota: Math.max(0, wholeOf(row, "quota")),
});

const endOf = (row: Row): FinalStatus | undefined => FINAL_STATUSES.find((status) => status === textOf(row, "status"));

export const drawings: TableUse<SourceJob> = {
  table: "midjourneys",
  key: "id",
  taken: [
    ...JOB_COLUMNS,
    "code",
    "mj_id",
    "prompt",
    "prompt_en",
    "description",
    "state",
    "image_url",
    "video_url",
    "video_urls",
    "buttons",
    "properties",
    "token_id",
  ],
  left: { mode: "not kept" },
  read: (row) => {
    const status = endOf(row);
    if (!status) return { left: RUNNING };
    const job = jobOf(row, status);
    const text = (column: string) => ({ [column]: textOf(row, column) });
    const buttons: unknown = parsed(textOf(row, "buttons"));
    const task = {
      imageUrl: textOf(row, "image_url"),
      videoUrl: textOf(row, "video_url"),
      ...text("state"),
      ...text("description"),
      promptEn: textOf(row, "prompt_en"),
      ...(Array.isArray(buttons) && { buttons }),
    };
    const properties = objectOf(row, "properties");
    return {
      ...job,
      platform: "mj",
      task_id: textOf(row, "mj_id").trim(),
      upstream_id: textOf(row, "mj_id").trim(),
      model: Object.entries(MJ_MODELS).find(([action]) => action === job.action)?.[1] ?? "",
      prompt: textOf(row, "prompt"),
      data: { code: wholeOf(row, "code"), description: textOf(row, "description"), properties, task },
      own: {},
    };
  },
};

/** Channel types, whose numbers new-api writes for the platforms of videos, as a platform here. */
const BY_TYPE: Readonly<Record<string, TaskPlatform>> = {
  "1": "sora",
  "17": "wan",
  "24": "veo",
  "35": "hailuo",
  "36": "suno",
  "41": "veo",
  "45": "doubao",
  "50": "kling",
  "51": "jimeng",
  "52": "vidu",
  "54": "doubao",
  "55": "sora",
  "56": "replicate",
};

const platforms = Object.keys(TASK_PLATFORMS) as TaskPlatform[];

export const tasks: TableUse<SourceJob> = {
  table: "tasks",
  key: "id",
  taken: [...JOB_COLUMNS, "task_id", "platform", "properties", "data", "private_data", "group", "token_id"],
  left: { created_at: "the time of the submit tells it", updated_at: "the time of the end tells it" },
  read: (row) => {
    const status = endOf(row);
    if (!status) return { left: RUNNING };
    const said = textOf(row, "platform").trim();
    const platform = platforms.find((one) => one === said) ?? BY_TYPE[said];
    if (!platform) return { left: "of a platform that Weir does not have" };
    const job = jobOf(row, status);
    const [properties, hidden] = [objectOf(row, "properties"), objectOf(row, "private_data")];
    const task_id = textOf(row, "task_id").trim();
    const shared = {
      ...job,
      platform,
      task_id,
      upstream_id: textOf(hidden, "upstream_task_id") || task_id,
      prompt: textOf(properties, "input"),
    };
    if (platform === "suno") {
      const data: unknown = parsed(textOf(row, "data"));
      return { ...shared, model: `suno_${job.action.toLowerCase()}`, data, own: {} };
    }
    // Older rows of finished videos have the address where failed ones have the reason.
    const address = textOf(hidden, "result_url") || job.fail_reason;
    const files = status === "SUCCESS" && /^https?:\/\//.test(address) ? [address] : [];
    const model = textOf(properties, "upstream_model_name") || textOf(properties, "origin_model_name");
    return {
      ...shared,
      fail_reason: status === "SUCCESS" ? "" : job.fail_reason,
      model: textOf(properties, "origin_model_name") || model,
      data: { files, count: files.length, media: "video" },
      own: { model, kind: "", files, media: "video" },
    };
  },
};

/** A JSON text; undefined for any other. */
function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
