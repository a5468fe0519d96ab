/**
 * Submits to Midjourney: the paths below /mj, their bodies, and the job of each. The body is forwarded unchanged,
 * except for members that the operator blocks and the ids, which are ours.
 */
import { fail } from "../../../../shared/errors";
import { MJ_MODELS, type MjAction } from "../../../../shared/midjourney";
import { TEXT_LIMITS } from "../../../../shared/text-limits";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import { readCustomId, readSimpleChange } from "./custom-id";

/** Members that the operator forwards (options Mj…). */
export interface MjRules {
  notify: boolean;
  accountFilter: boolean;
  modeClear: boolean;
}

export interface MjJob {
  action: MjAction;
  model: string;
  prompt: string;
  /** Our id of the earlier job; "" = none. */
  parent_id: string;
  /** The caller's webhook; "" = none, or not allowed. */
  notify_hook: string;
  /** The body for the upstream; `upstream_id` is its own id of the earlier job. */
  body(upstream_id: string): JsonObject;
}

const string = (body: JsonObject, name: string): string => {
  const value = body[name];
  return typeof value === "string" ? value : "";
};

/** Longer than any prompt that a model reads, and any address that a server accepts. */
const MOST_PROMPT = TEXT_LIMITS.task_prompt;
const MOST_ADDRESS = 2_048;

/** A required string. */
const requiredText = (body: JsonObject, name: string): string =>
  string(body, name).trim() === "" ? fail("invalid_request", { detail: name }) : string(body, name);

/** Names of which at least one must be a non-empty string. */
function oneOf(body: JsonObject, ...names: readonly string[]): void {
  if (!names.some((name) => string(body, name).trim() !== "")) fail("invalid_request", { detail: names.join(" / ") });
}

function pictures(body: JsonObject, least: number): void {
  const { base64Array: given } = body;
  const good =
    Array.isArray(given) &&
    given.length >= least &&
    given.every((picture) => typeof picture === "string" && picture !== "");
  if (!good) fail("invalid_request", { detail: "base64Array" });
}

/** A grid has at most four images. */
function pictureIndex(body: JsonObject): number {
  const { index } = body;
  return typeof index === "number" && Number.isInteger(index) && index >= 1 && index <= 4
    ? index
    : fail("invalid_request", { detail: "index" });
}

interface Reading {
  action: MjAction;
  parent?: string;
  /** Members of the upstream's body that name the earlier job. */
  naming?: (upstream_id: string) => JsonObject;
}

const following = (body: JsonObject, action: MjAction): Reading => ({
  action,
  parent: requiredText(body, "taskId"),
  naming: (taskId) => ({ taskId }),
});

const changes: ReadonlyMap<string, MjAction> = new Map([
  ["UPSCALE", "UPSCALE"],
  ["VARIATION", "VARIATION"],
  ["REROLL", "REROLL"],
]);

const readers = {
  imagine: (body) => (requiredText(body, "prompt"), { action: "IMAGINE" }),
  describe: (body) => (oneOf(body, "base64", "link"), { action: "DESCRIBE" }),
  blend: (body) => (pictures(body, 2), { action: "BLEND" }),
  shorten: (body) => (requiredText(body, "prompt"), { action: "SHORTEN" }),
  "upload-discord-images": (body) => (pictures(body, 1), { action: "UPLOAD" }),
  change: (body) => {
    const action =
      changes.get(requiredText(body, "action").toUpperCase()) ?? fail("invalid_request", { detail: "action" });
    if (action !== "REROLL") pictureIndex(body);
    return following(body, action);
  },
  "simple-change": (body) => {
    const change = readSimpleChange(requiredText(body, "content")) ?? fail("invalid_request", { detail: "content" });
    return { action: change.action, parent: change.taskId, naming: (id) => ({ content: `${id} ${change.word}` }) };
  },
  action: (body) =>
    following(
      body,
      (readCustomId(requiredText(body, "customId")) ?? fail("invalid_request", { detail: "customId" })).action,
    ),
  modal: (body) => following(body, "MODAL"),
  edits: (body) => {
    requiredText(body, "prompt");
    if (body.base64Array !== undefined) pictures(body, 1);
    else requiredText(body, "image");
    return { action: "EDITS" };
  },
  video: (body) => {
    if (string(body, "taskId") !== "") return following(body, "VIDEO");
    oneOf(body, "image", "prompt");
    return { action: "VIDEO" };
  },
  swap: (body) => (requiredText(body, "sourceBase64"), requiredText(body, "targetBase64"), { action: "SWAP_FACE" }),
} as const satisfies Record<string, (body: JsonObject) => Reading>;

/** The last path segment of a submit. */
export type MjSubmit = keyof typeof readers;
export const MJ_SUBMITS = Object.keys(readers) as readonly MjSubmit[];

/** The path below /mj, Weir's and the upstream's. */
export const submitPath = (name: MjSubmit): string => (name === "swap" ? "/insight-face/swap" : `/submit/${name}`);

const FLAGS = /\s*(?<!\S)--(?:fast|relax|turbo)(?!\S)/gi;

/** A prompt without the flags that select a mode. */
export const withoutModes = (prompt: string): string => prompt.replace(FLAGS, "").trim();

/** The job of a body. Throws invalid_request, whose detail names the member. */
export function readSubmit(name: MjSubmit, given: unknown, rules: MjRules): MjJob {
  const body = isObject(given) ? given : fail("bad_json");
  const reading: Reading = readers[name](body);
  const { accountFilter, filter, notifyHook: _, ...rest } = body;
  const kept: Record<string, unknown> = rest;
  if (rules.accountFilter) {
    if (accountFilter !== undefined) kept.accountFilter = accountFilter;
    // The vendor's own id of the upload.
    if (filter !== undefined) kept.filter = filter;
  }
  const asked = string(body, "prompt");
  if (asked.length > MOST_PROMPT) fail("invalid_request", { detail: "prompt" });
  const hook = rules.notify ? string(body, "notifyHook") : "";
  if (hook.length > MOST_ADDRESS) fail("invalid_request", { detail: "notifyHook" });
  const prompt = rules.modeClear ? withoutModes(asked) : asked;
  if (prompt !== asked) kept.prompt = prompt;
  return {
    action: reading.action,
    model: MJ_MODELS[reading.action],
    prompt,
    parent_id: reading.parent ?? "",
    notify_hook: hook,
    body: (upstream_id) => ({ ...kept, ...reading.naming?.(upstream_id) }),
  };
}

/**
 * Members that are stored with a job if they are short strings or numbers: for its owner, and for finding the cause of
 * a failure.
 */
const KEPT = [
  "taskId",
  "action",
  "index",
  "content",
  "customId",
  "state",
  "botType",
  "dimensions",
  "motion",
  "mode",
  "link",
  "image",
] as const;
const MOST_KEPT = 8_192;
const DATA = /^data:/i;

/** The stored part of a body: no images, and nothing long. */
export function keptOf(body: JsonObject): JsonObject {
  const isKept = (value: unknown): boolean =>
    typeof value === "number" || (typeof value === "string" && value.length <= MOST_KEPT && !DATA.test(value));
  return Object.fromEntries(KEPT.flatMap((name) => (isKept(body[name]) ? [[name, body[name]]] : [])));
}
