/** The configuration of an installation as one file: written, compared and applied. */
import { AppError, errorText } from "../../../shared/errors";
import { type OptionKey, type OptionValue, parseOption } from "../../../shared/options";
import type { ActorCtx } from "../../contracts/context";
import type { OptionStore } from "../../contracts/option-store";
import { storeOption } from "../option/service";
import { checkVirtualModels } from "../virtual/virtual-models";
import { type ChannelChange, type ChannelsPlan, exportChannels, planChannels, storedChannels } from "./channels";
import { CONFIG_VERSION, type ConfigFile, refusal, sectionOf } from "./format";
import { exportOptions, inOrder, type OptionChange, planOptions, textAfter } from "./options";
import { HIDDEN } from "./json";
import { refText, type ReadSecret } from "./secret-refs";

/** `left`: told what has no place in the file. */
export async function exportConfig(ctx: ActorCtx, left: (what: string) => void): Promise<ConfigFile> {
  const channels = exportChannels(ctx, await storedChannels(ctx), left);
  return { version: CONFIG_VERSION, ...exportOptions(ctx.options), channels };
}

export interface ConfigPlan {
  options: OptionChange[];
  channels: ChannelChange[];
  /** Secrets that are named and not given: what is stored stays. */
  kept: string[];
  /** What is here and not in the file; with `prune` it goes. */
  unnamed: string[];
}

export interface PlanInput {
  /** For messages. */
  name: string;
  read: ReadSecret;
  prune: boolean;
}

/** What would change. Throws CannotStart with every problem of the file; nothing was written then. */
export async function planConfig(
  ctx: ActorCtx,
  file: ConfigFile,
  { name, read, prune }: PlanInput,
): Promise<ConfigPlan> {
  const channels = planChannels(ctx, await storedChannels(ctx), file, read, prune);
  const options = planOptions(ctx.options, file, read, prune);
  const problems = [...options.problems, ...channels.problems];
  if (problems.length === 0) problems.push(...virtualProblems(ctx, options.changes, channels.after));
  if (problems.length > 0) throw refusal(name, problems);
  return {
    options: inOrder(options.changes),
    channels: channels.changes,
    kept: [...new Set([...options.kept, ...channels.kept].map(refText))],
    unnamed: [
      ...options.unnamed.map((key) => `${sectionOf(key)}.${key}`),
      ...channels.unnamed.map((one) => `channel ${one.id} "${one.name}"`),
    ],
  };
}

/** Virtual models are checked against the channels, groups and prices that the file leads to. */
function virtualProblems(ctx: ActorCtx, changes: readonly OptionChange[], channels: ChannelsPlan["after"]): string[] {
  const change = changes.find(({ key }) => key === "VirtualModels");
  const wanted = change && parseOption("VirtualModels", change.text);
  if (!wanted?.ok) return [];
  const textOf = textAfter(
    ctx.options,
    changes.filter((one) => one !== change),
  );
  const get: OptionStore["get"] = <K extends OptionKey>(key: K): OptionValue<K> => {
    const parsed = parseOption(key, textOf(key));
    return parsed.ok ? parsed.value : ctx.options.get(key);
  };
  try {
    checkVirtualModels(
      { pool: { all: () => channels }, options: { get, version: 0 }, lang: "en" },
      wanted.value,
      "VirtualModels",
    );
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [`prices.VirtualModels: ${errorText(error.code, error.values, "en")}`];
  }
}

export const isEmpty = ({ options, channels }: ConfigPlan): boolean => options.length === 0 && channels.length === 0;

/**
 * Does what was planned, by the verbs of edits: each change is one of its own in audit log and history, and is
 * announced to every instance. One that is interrupted is completed when it is run again.
 */
export async function applyConfig(ctx: ActorCtx, plan: ConfigPlan): Promise<void> {
  for (const change of plan.channels) await change.run();
  for (const { key, text } of plan.options) await storeOption(ctx, key, text);
}

const SIGN = { create: "+", update: "~", delete: "-" } as const;
/** Longer values are cut. */
const SHOWN = 120;

const valueText = (value: unknown): string => {
  const text = value === undefined ? "(removed)" : JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
};

/** The plan for people: a line for each value that differs. Secrets are only said to differ. */
export function planText({ options, channels, kept, unnamed }: ConfigPlan, prune: boolean): string {
  const lines = (all: OptionChange["differences"]) =>
    all.map(({ path, before, after }) =>
      before === HIDDEN && after === HIDDEN
        ? `    ${path}: changed`
        : before === undefined
          ? `    ${path}: ${valueText(after)}`
          : `    ${path}: ${valueText(before)} -> ${valueText(after)}`,
    );
  const said = [
    ...channels.flatMap((one) => [
      `${SIGN[one.act]} channel "${one.name}"${one.id > 0 ? ` (id ${one.id})` : ""}`,
      ...lines(one.differences),
    ]),
    ...options.flatMap((one) => [`~ ${sectionOf(one.key)}.${one.key}`, ...lines(one.differences)]),
  ];
  if (said.length === 0) said.push("No difference.");
  if (kept.length > 0) said.push(`Not given, the stored secret stays: ${kept.join(", ")}.`);
  if (unnamed.length > 0 && !prune)
    said.push(`Not in the file, stays as it is (--prune removes it): ${unnamed.join(", ")}.`);
  return said.join("\n");
}
