/** Looking for values in bodies, and for members in the tables of support. */
import { isObject } from "../../src/server/protocol/dialects/shared/json";
import type { Leaf } from "./nothing-lost-samples";

export interface Note {
  readonly code: string;
  readonly detail: string;
}

export type Found = readonly [path: string, value: unknown];

/** Every value of a body that holds no other, and its path. */
export function leavesOf(value: unknown, path = ""): Found[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? [[path, value]] : value.flatMap((one) => leavesOf(one, path));
  }
  if (!isObject(value)) return value === undefined ? [] : [[path, value]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [[path, value]];
  return entries.flatMap(([name, inner]) => leavesOf(inner, path === "" ? name : `${path}.${name}`));
}

function stands(leaf: Leaf, found: readonly Found[]): boolean {
  if (typeof leaf === "number") return found.some(([, value]) => value === leaf);
  if (typeof leaf === "string") return found.some(([, value]) => typeof value === "string" && value.includes(leaf));
  if ("without" in leaf)
    return found.some(([path]) => leaf.beside.test(path)) && !found.some(([path]) => leaf.without.test(path));
  if ("only" in leaf) return stands(leaf.only, found) && !stands(leaf.not, found);
  const { at, is } = leaf;
  return found.some(
    ([path, value]) =>
      at.test(path) && (is === undefined || (is instanceof RegExp ? is.test(String(value)) : value === is)),
  );
}

/** Whether one of the leaves stands in a body. */
export function arrives(body: unknown, leaves: readonly Leaf[]): boolean {
  const found = leavesOf(body);
  return leaves.some((leaf) => stands(leaf, found));
}

const blocks = /^(text|refusal|reasoning|image|audio|file|tool_call|tool_result|opaque)(\.|$)/;

/** The entry of a table for a member by its path; a member of what is unsupported is unsupported too. */
export function supportOf(table: object, key: string): string {
  const path = blocks.test(key) ? `messages.content.${key}` : key.replace(/^prompt\./, "");
  let entry: unknown = table;
  for (const name of path.split(".")) {
    if (!isObject(entry)) break;
    entry = entry[name];
  }
  if (entry === undefined) throw new Error(`no entry for ${key}`);
  return typeof entry === "string" ? entry : "sent";
}
