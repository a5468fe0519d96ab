/**
 * The texts of the log: a row stores a code and its parameters, and is read in its reader's language. A code is an
 * error (errors.ts), a failure of the upstream (failures.ts) or an event (events.ts).
 */
import { errors, type ErrorCode } from "./errors";
import { isEventName, EVENTS } from "./events";
import { FAILURES, type FailureKind } from "./failures";
import { fillText, type Lang, type Text, type TextParams } from "./text";
import { cut, TEXT_LIMITS } from "./text-limits";

/** A text as stored; a parameter may be one itself. */
export interface StoredText {
  readonly code: string;
  readonly params: TextParams;
}

/** The upstream's own text, as its caller received it. */
const QUOTED: Text = { zh: "{detail}", en: "{detail}" };
const QUOTED_CODE = "upstream_quoted";
const FAILURE = /^failure\.(\w+)$/;

function failureOf(code: string): (typeof FAILURES)[FailureKind] | undefined {
  const name = FAILURE.exec(code)?.[1];
  return name !== undefined && Object.hasOwn(FAILURES, name) ? FAILURES[name as FailureKind] : undefined;
}

/** The template of a code; undefined: a later release wrote it. */
function templateOf(code: string): Text | undefined {
  if (code === QUOTED_CODE) return QUOTED;
  if (isEventName(code)) return EVENTS[code];
  if (Object.hasOwn(errors, code)) return errors[code as ErrorCode].text;
  return failureOf(code);
}

/** Every code that a row may have. */
const LOG_CODES: readonly string[] = [
  ...Object.keys(errors),
  ...Object.keys(EVENTS),
  ...Object.keys(FAILURES).map((name) => `failure.${name}`),
];

/** Who reads: an operator the cause of a failure, the call's owner what the caller was told. */
export type LogReader = "operator" | "owner";

/** Codes whose text contains `part`, as the reader sees it, in either language and whatever its parameters. */
export function codesContaining(part: string, reader: LogReader): string[] {
  const wanted = part.toLowerCase();
  const parts = ({ zh, en }: Text): string[] => [zh, en].flatMap((text) => text.split(/[[\]]|\{[^}]*\}/));
  return LOG_CODES.filter((code) => {
    const text = templateOf(reader === "owner" ? toldText({ code, params: {} }).code : code);
    return text !== undefined && parts(text).some((fixed) => fixed.toLowerCase().includes(wanted));
  });
}

/**
 * What a call's owner may read of a failure: what the caller was told, without the cause on the channel's side. Other
 * texts stay.
 */
export function toldText({ code, params }: StoredText): StoredText {
  const failure = failureOf(code);
  if (!failure) return { code, params };
  return { code: params.detail === undefined ? failure.told : QUOTED_CODE, params };
}

/** The number of retries of a call, after the text of its final error (C-604); nothing when it was not retried. */
export function retriedText(retries: unknown, lang: Lang): string {
  if (typeof retries !== "number" || retries <= 0) return "";
  return lang === "zh" ? `（已重试 ${retries} 次）` : ` (retried ${retries} time${retries === 1 ? "" : "s"})`;
}

export const isStoredText = (value: unknown): value is StoredText =>
  typeof value === "object" && value !== null && "code" in value && "params" in value;

/**
 * The text of a code in a language; `units` writes an amount of units. undefined for a code that this release does not
 * know.
 */
export function logText(
  { code, params }: StoredText,
  lang: Lang,
  units: (amount: number) => string = String,
): string | undefined {
  const template = templateOf(code);
  if (!template) return undefined;
  const text = fillText(template[lang], params, (value, unit) => {
    if (isStoredText(value)) return logText(value, lang, units) ?? value.code;
    return unit === "units" && typeof value === "number" ? units(value) : String(value ?? "");
  });
  return text + retriedText(params.retries, lang);
}

/** A text as a row stores it; texts among the parameters are cut to TEXT_LIMITS.log_content. */
export function textColumns(text: StoredText | undefined): { code: string; params: string } {
  if (!text) return { code: "", params: "" };
  const params = JSON.stringify(text.params, (_, value: unknown) =>
    typeof value === "string" ? cut(value.replaceAll("\0", ""), TEXT_LIMITS.log_content) : value,
  );
  return { code: text.code, params: params === "{}" ? "" : params };
}

/** The members of stored JSON of an object; none in other texts. */
export function readParams(json: string): TextParams {
  if (json === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as TextParams) : {};
  } catch {
    return {};
  }
}

/** A stored text of a row, undefined where it has none (charges, rows of earlier releases). */
export const textOfRow = ({ code, params }: { code: string; params: string }): StoredText | undefined =>
  code === "" ? undefined : { code, params: readParams(params) };
