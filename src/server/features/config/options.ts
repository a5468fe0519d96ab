/** Options in the configuration file: typed values, compared with what is in force. */
import {
  defaultText,
  isOptionKey,
  missingNeeds,
  option,
  type OptionKey,
  optionKeys,
  parseOption,
  printOption,
} from "../../../shared/options";
import type { OptionStore } from "../../contracts/option-store";
import { type ConfigFile, OPTION_SECTIONS, type OptionSection, sectionOf } from "./format";
import { differences, type Difference, HIDDEN, same, sorted } from "./json";
import { envRef, type ReadSecret, type SecretRef, secretRef } from "./secret-refs";

/** A text as the file has it: a number, a switch, a list or a table rather than their text. */
function fileValue(key: OptionKey, text: string): unknown {
  const { kind } = option(key);
  const parsed = parseOption(key, text);
  if (!parsed.ok) return text;
  if (kind === "json") return sorted(JSON.parse(text));
  return ["flag", "int", "decimal", "lines", "list"].includes(kind) ? parsed.value : text;
}

/** The text of a value of the file. Throws for a value of another kind. */
function textOf(key: OptionKey, value: unknown): string {
  const { kind, print } = option(key);
  if (kind === "json") return JSON.stringify(value);
  if ((kind === "lines" || kind === "list") && Array.isArray(value)) return print(value.map(String));
  if (["string", "number", "boolean"].includes(typeof value)) return String(value);
  throw new TypeError(kind === "lines" || kind === "list" ? "must be a list" : "must be a single value");
}

/** The options that differ from their default, by section. */
export function exportOptions(
  options: Pick<OptionStore, "text">,
): Partial<Record<OptionSection, Record<string, unknown>>> {
  const sections: Partial<Record<OptionSection, Record<string, unknown>>> = {};
  for (const key of optionKeys) {
    const value = fileValue(key, options.text(key));
    if (same(value, fileValue(key, defaultText(key)))) continue;
    (sections[sectionOf(key)] ??= {})[key] = option(key).secret ? envRef("option", key) : value;
  }
  return sections;
}

/** An option that the file changes. */
export interface OptionChange {
  key: OptionKey;
  text: string;
  /** Of secrets: no values. */
  differences: Difference[];
}

export interface OptionsPlan {
  changes: OptionChange[];
  kept: SecretRef[];
  /** Options that are set here and not in the file. */
  unnamed: OptionKey[];
  problems: string[];
}

/** `prune`: what the file does not name gets its default. */
export function planOptions(
  options: Pick<OptionStore, "text">,
  file: ConfigFile,
  read: ReadSecret,
  prune: boolean,
): OptionsPlan {
  const plan: OptionsPlan = { changes: [], kept: [], unnamed: [], problems: [] };
  const named = new Set<string>();
  const change = (key: OptionKey, text: string): void => {
    const path = `${sectionOf(key)}.${key}`;
    const [before, after] = [options.text(key), text].map((one) => fileValue(key, one));
    if (same(before, after)) return;
    const secret = option(key).secret;
    const hidden = (value: unknown) => (value === "" ? "" : HIDDEN);
    plan.changes.push({
      key,
      text,
      differences: secret ? [{ path, before: hidden(before), after: hidden(after) }] : differences(before, after, path),
    });
  };
  for (const section of OPTION_SECTIONS) {
    for (const [key, value] of Object.entries(file[section] ?? {})) {
      const path = `${section}.${key}`;
      if (!isOptionKey(key)) plan.problems.push(`${path}: there is no such setting`);
      else if (sectionOf(key) !== section) plan.problems.push(`${path}: it belongs in the section ${sectionOf(key)}`);
      else {
        named.add(key);
        const text = wantedText(options, key, value, read, plan, path);
        if (text === undefined) continue;
        const parsed = parseOption(key, text);
        if (parsed.ok) change(key, option(key).kind === "json" ? text : printOption(key, parsed.value));
        else plan.problems.push(`${path}: ${parsed.problem.en}`);
      }
    }
  }
  plan.unnamed = optionKeys.filter(
    (key) => !named.has(key) && !same(fileValue(key, options.text(key)), fileValue(key, defaultText(key))),
  );
  if (prune) for (const key of plan.unnamed) change(key, defaultText(key));
  const wanted = textAfter(options, plan.changes);
  for (const { key, text } of plan.changes) {
    const missing = missingNeeds(option(key), text, (needed) => wanted(needed) !== "");
    if (missing.length > 0) plan.problems.push(`${sectionOf(key)}.${key}: needs ${missing.join(", ")}`);
  }
  return plan;
}

/** The texts as they are once the changes are done. */
export function textAfter(
  options: Pick<OptionStore, "text">,
  changes: readonly OptionChange[],
): (key: OptionKey) => string {
  const texts = new Map(changes.map(({ key, text }) => [key, text]));
  return (key) => texts.get(key) ?? options.text(key);
}

function wantedText(
  options: Pick<OptionStore, "text">,
  key: OptionKey,
  value: unknown,
  read: ReadSecret,
  plan: OptionsPlan,
  path: string,
): string | undefined {
  if (!option(key).secret || value === "") {
    try {
      return textOf(key, value);
    } catch (error) {
      plan.problems.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
  const ref = secretRef.safeParse(value);
  if (!ref.success) {
    plan.problems.push(`${path}: a secret is named, {env: NAME} or {file: PATH}`);
    return undefined;
  }
  const given = read(ref.data);
  if (given !== undefined) return given;
  if (options.text(key) === "") plan.problems.push(`${path}: ${nothingIn(ref.data)}`);
  else plan.kept.push(ref.data);
  return undefined;
}

export const nothingIn = (ref: SecretRef): string =>
  "env" in ref ? `the variable ${ref.env} is not set` : `the file ${ref.file} is missing or empty`;

/** The changes in an order in which each finds what it needs, virtual models last: they name channels and groups. */
export function inOrder(changes: readonly OptionChange[]): OptionChange[] {
  const waiting = new Map(changes.map((one) => [one.key, one]));
  const ordered: OptionChange[] = [];
  const take = (change: OptionChange): void => {
    if (!waiting.delete(change.key)) return;
    for (const needed of option(change.key).needs) {
      const before = isOptionKey(needed) ? waiting.get(needed) : undefined;
      if (before) take(before);
    }
    ordered.push(change);
  };
  for (const change of changes) if (change.key !== "VirtualModels") take(change);
  for (const change of changes) take(change);
  return ordered;
}
