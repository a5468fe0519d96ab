/** Tolerant readers of wire objects: what is not of the wanted kind counts as absent. */
import type { DialectKey, Extra, Warn, WireObject } from "../../chat-events";
import { isObject } from "../../../lib/json-bytes";

export { isObject };

/** The value when it is an object, else an empty one. */
export const object = (value: unknown): WireObject => (isObject(value) ? value : {});

/** The value when it is an array, else an empty one. */
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects of an array. */
export const objects = (value: unknown): WireObject[] => list(value).filter(isObject);

/** The value when it is a text, else "". */
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

export const optionalText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** A count of tokens: whole, not negative. */
export const count = (value: unknown): number | undefined => {
  const found = number(value);
  return found === undefined ? undefined : Math.max(0, Math.trunc(found));
};

export const flag = (value: unknown): boolean | undefined => (typeof value === "boolean" ? value : undefined);

/**
 * Every member of T by name. A decoder that builds one says of each member what it reads, or undefined where its
 * dialect has no word for it: a new member does not compile until it does.
 */
export type Complete<T> = { readonly [Member in keyof Required<T>]: T[Member] };

/** The object without members that are undefined. */
export function compact<T extends object>(value: T): T {
  for (const key in value) if (value[key] === undefined) return withoutUndefined(value);
  return value;
}

/** A copy: an object from which members were deleted is slow to read ever after. */
function withoutUndefined<T extends object>(value: T): T {
  const rest: Partial<T> = {};
  for (const key in value) if (value[key] !== undefined) rest[key] = value[key];
  return rest as T; // what is left out is undefined, and undefined members are as good as none
}

/** The members that are not among the known ones and not null; undefined when there is none. */
export function unknownMembers(value: WireObject, known: ReadonlySet<string>): WireObject | undefined {
  let rest: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    if (known.has(key) || member === undefined || member === null) continue;
    rest ??= {};
    rest[key] = member;
  }
  return rest;
}

/** `unknownMembers` as extra of a dialect. */
export function extraOf(from: DialectKey, value: WireObject, known: ReadonlySet<string>): Extra | undefined {
  const rest = unknownMembers(value, known);
  return rest && { [from]: rest };
}

/** Members that hold members: which of those is lost is of interest. */
const boxes = new Set(["generationConfig", "toolConfig", "output_config"]);

/** What the dialect gets back of an extra; a warning for what others left there. `where` names the place in the log. */
export function ownExtra(to: DialectKey, extra: Extra | undefined, where: string, warn: Warn): WireObject | undefined {
  if (!extra) return undefined;
  for (const [from, members] of Object.entries(extra)) {
    if (from === to) continue;
    for (const [key, member] of Object.entries(members ?? {})) {
      const name = where === "" ? key : `${where}.${key}`;
      if (boxes.has(key) && isObject(member))
        for (const inner of Object.keys(member)) warn("dropped_field", `${name}.${inner}`);
      else warn("dropped_field", name);
    }
  }
  return extra[to];
}

/** The data of a stream's frame as an object; undefined when it is none: such a frame is malformed. */
export function dataObject(data: string): WireObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** JSON text as an object; undefined when it is none. Empty text is an empty object: a call without arguments. */
export const parseObject = (json: string): WireObject | undefined => (json.trim() === "" ? {} : dataObject(json));
