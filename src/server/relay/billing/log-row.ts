/** The log row of a call, as the usage page and the inspector show it. */
import type { ConsumeOther, EndReason } from "../../../shared/log";
import { type StoredText, textColumns } from "../../../shared/log-text";
import { type BillLine, savedByCache } from "../../../shared/charge";
import { priceFacts } from "../../../shared/price-display";
import type { PriceRule } from "../../../shared/price-rules";
import { type CompiledPrice } from "../../../shared/pricing";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import type { UsageDoubt } from "../../../shared/usage-doubt";
import type { CallLog } from "../../contracts/ledger";
import { isUnavailable } from "../../lib/unavailable";
import type { Admitted, Asked, Attempted } from "../call/call";
import { budgetsOf } from "./budgets";
import type { Usage } from "../../protocol/chat-events";
import { cleanText } from "../../protocol/clean-text";
import { thrownText } from "../response/error-response";
import { redact } from "../providers/redact";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Caller } from "../../contracts/caller";

/** Most draft prefixes kept per price: paths come from callers. */
const MOST_DRAFTS = 1000;
/** Most warnings of a translation that a row keeps. */
const MOST_WARNINGS = 50;

export interface Outcome {
  /** The one that served, or the last one; undefined: no channel was tried. */
  attempt: Attempted | undefined;
  end_reason: EndReason;
  quota: number;
  bill: readonly BillLine[];
  /** The rule of its price. */
  rule?: PriceRule | undefined;
  usage: Usage | undefined;
  /** What the vendor asks for it, in billionths of a dollar; absent: unknown. */
  cost?: number | null;
  /** Tokens are an estimate, or a part of them. */
  estimated: boolean;
  /** Counts of the upstream that were rejected as impossible. */
  doubts?: readonly UsageDoubt[];
  /** The channel does not charge for a call that ended this way. */
  waived?: boolean;
  /** Why the call failed; absent for a charge, whose text follows from its price. */
  text?: StoredText;
}

function sum(...values: (number | undefined)[]): number {
  let total = 0;
  for (const value of values) total += value ?? 0;
  return total;
}

/** Input tokens as OpenAI counts them: cached, audio and image tokens included. */
export const promptTokens = (usage: Usage): number =>
  sum(usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h, usage.audio_in, usage.image_in);

/** Whether a call read from a cache or wrote to it. */
const cached = ({ cache_read, cache_write_5m, cache_write_1h }: Usage): boolean =>
  sum(cache_read, cache_write_5m, cache_write_1h) > 0;

/** Output tokens as OpenAI counts them: reasoning and audio included. */
export const completionTokens = (usage: Usage): number =>
  sum(usage.output, usage.reasoning, usage.audio_out, usage.image_out);

/** The part that the rows of all calls at one price share, built once. */
interface PriceTexts {
  /** The start of `other`: `{` and the price's members. */
  facts: string;
  /** Draft prefixes by path and model. */
  drafts: Map<string, string>;
}

const priceTexts = new WeakMap<CompiledPrice, PriceTexts>();

function textsOf(price: CompiledPrice): PriceTexts {
  let texts = priceTexts.get(price);
  if (!texts) {
    const { cache_creation_ratio: _, ...facts } = priceFacts(price);
    const members: Pick<ConsumeOther, PriceMember> = { ...facts, group: price.group };
    texts = { facts: JSON.stringify(members).slice(0, -1), drafts: new Map() };
    priceTexts.set(price, texts);
  }
  return texts;
}

/** Members of `other` that follow from the price alone. */
type PriceMember =
  | "model_ratio"
  | "completion_ratio"
  | "model_price"
  | "group_ratio"
  | "user_group_ratio"
  | "cache_ratio"
  | "group";

/**
 * JSON of the row that a sweep writes when this process dies: known before the first attempt. See HoldRequest.draft.
 */
export function sweepRow({ engine, caller, request, ip, path }: Asked, price: CompiledPrice): string {
  const texts = textsOf(price);
  // A price may be that of another name (setting.bill_by).
  const key = `${path} ${request.model}`;
  let start = texts.drafts.get(key);
  if (start === undefined) {
    if (texts.drafts.size >= MOST_DRAFTS) texts.drafts.clear();
    const { rule } = price;
    const request_path = cut(path, TEXT_LIMITS.request_path);
    const others = { request_path, ...(rule && { price_rule: rule }), estimated: true };
    start = JSON.stringify({
      group: price.group,
      model_name: cut(request.model, TEXT_LIMITS.model),
      ...(rule && { price_rule: rule.name }),
      other: `${texts.facts},${JSON.stringify(others).slice(1)}`,
    }).slice(0, -1);
    texts.drafts.set(key, start);
  }
  const { username, token_name } = caller;
  const visible = engine.controlPlane.option.logConsume;
  return `${start},${JSON.stringify({ username, token_name, ip, is_stream: request.stream, visible }).slice(1)}`;
}

/** The row of a call that ended. Lists every column, so that a new column does not compile until it is filled here. */
export function callRow(call: Admitted, outcome: Outcome): Required<CallLog> {
  const { asked, progress } = call;
  const { engine, request, path } = asked;
  const { attempt, usage } = outcome;
  const { channel, caller = asked.caller, price = call.price, slot } = attempt ?? {};
  const { upstream_model = "", warnings = [] } = attempt?.translation ?? {};
  const { began, first_content_at } = progress;
  const now = engine.controlPlane.now();
  const texts = textsOf(price);
  const { code, params } = textColumns(outcome.text);
  const other: Omit<ConsumeOther, PriceMember> = {
    cache_tokens: usage?.cache_read ?? 0,
    request_path: cut(path, TEXT_LIMITS.request_path),
    client_type: asked.client_type,
    end_reason: outcome.end_reason,
    bill: outcome.bill,
  };
  if (request.stream) other.frt = first_content_at < 0 ? -1 : Math.max(0, first_content_at - began);
  if (upstream_model !== "" && upstream_model !== request.model) {
    other.is_model_mapped = true;
    other.upstream_model_name = upstream_model;
  }
  if ((channel?.setting.bill_by === "upstream" || asked.virtual?.fixed_price) && price.model !== request.model)
    other.billed_model = price.model;
  if (asked.virtual) {
    other.asked_model = asked.virtual.name;
    if (call.ladder && call.ladder.passed.length > 0) other.passed_steps = call.ladder.passed;
  }
  if (asked.task_id !== undefined) other.task_id = asked.task_id;
  if (outcome.rule) other.price_rule = outcome.rule;
  if (outcome.estimated) other.estimated = true;
  if (outcome.waived) other.waived = true;
  if (attempt?.translation.cacheMarks && usage && !outcome.waived && cached(usage))
    other.cache_saved = savedByCache(price, usage);
  if (outcome.doubts && outcome.doubts.length > 0) other.usage_doubts = outcome.doubts;
  if (warnings.length > 0) {
    other.warnings = warnings
      .slice(0, MOST_WARNINGS)
      .map(({ code, detail }) => `${code}: ${cleanText(channel ? redact(channel, detail) : detail)}`);
  }
  const budgets = budgetsOf(call.admission, slot);
  const { attempts } = call;
  const use_channel = attempts.map((record) => String(record.channel));
  const selection = call.selection.explain();
  other.admin_info =
    budgets.length > 0 ? { use_channel, attempts, selection, budgets } : { use_channel, attempts, selection };
  return {
    request_id: asked.request_id,
    created_at: Math.floor(began / 1000),
    user_id: caller.user_id,
    username: caller.username,
    token_id: caller.token_id,
    token_name: caller.token_name,
    group: caller.group,
    ip: asked.ip,
    channel: channel?.id ?? 0,
    channel_name: channel?.name ?? "",
    model_name: cut(request.model, TEXT_LIMITS.model),
    quota: outcome.quota,
    prompt_tokens: usage ? promptTokens(usage) : 0,
    completion_tokens: usage ? completionTokens(usage) : 0,
    use_time: Math.max(0, Math.round((now - began) / 1000)),
    is_stream: request.stream,
    content: "",
    code,
    params,
    other: `${texts.facts},${JSON.stringify(other).slice(1)}`,
    end_reason: outcome.end_reason,
    upstream_request_id: lastAnswerId(call),
    upstream_cost: outcome.cost ?? null,
    price_rule: outcome.rule?.name ?? "",
    plan_quota: 0,
    tags: "",
    visible: engine.controlPlane.option.logConsume,
  };
}

/** The upstream's id of the last response, "" = none. */
const lastAnswerId = ({ attempts }: Admitted): string =>
  attempts.findLast(({ status }) => status !== 0)?.upstream_request_id ?? "";

/** A call that was refused before it had a price. */
interface RefusedCall {
  request_id: string;
  ip: string;
  arrived: number;
  path: string;
  model: string;
}

/** Errors that have their row: the first place that records one knows most of its call. */
const recorded = new WeakSet<Error>();

/**
 * Writes a refusal, once: `error` says why. Never throws. When the row cannot be written, the caller does not wait for
 * a second attempt.
 */
export async function recordRefusal(
  { recordRefusal }: Pick<ControlPlane, "recordRefusal">,
  caller: Caller,
  call: RefusedCall,
  error: unknown,
): Promise<void> {
  if (error instanceof Error) {
    if (recorded.has(error)) return;
    recorded.add(error);
  }
  const text = thrownText(error);
  const written = recordRefusal(refusedRow(caller, call, text), text.code);
  if (!isUnavailable(error)) await written;
}

function refusedRow(caller: Caller, call: RefusedCall, text: StoredText): CallLog {
  return {
    request_id: call.request_id,
    created_at: Math.floor(call.arrived / 1000),
    user_id: caller.user_id,
    username: caller.username,
    token_id: caller.token_id,
    token_name: caller.token_name,
    group: caller.group,
    ip: call.ip,
    // A name that is no model's is not stored at all.
    model_name: call.model.length > TEXT_LIMITS.model ? "" : call.model,
    ...textColumns(text),
    other: JSON.stringify({
      request_path: cut(call.path, TEXT_LIMITS.request_path),
      group: caller.group,
      end_reason: "refused",
    }),
    end_reason: "refused",
  };
}
