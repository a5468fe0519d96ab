/**
 * What a channel changes in the JSON body that it sends upstream (`param_override`), as pure functions. Two forms: an
 * object whose members are laid over the body's own, or `{"operations": [...]}`, done in order.
 *
 * A path names a place: members joined by dots, list positions as numbers, -1 for the last ("messages.0.content"); a
 * dot inside a name is written `\.`. An operation whose place does not exist does nothing, unless it creates one.
 */
import type { Text } from "./text";

type Json = Record<string, unknown>;
type Path = readonly string[];

const CONDITIONS = {
  full: (found: unknown, value: unknown) => same(found, value),
  prefix: (found: unknown, value: unknown) => String(found).startsWith(String(value)),
  suffix: (found: unknown, value: unknown) => String(found).endsWith(String(value)),
  contains: (found: unknown, value: unknown) =>
    Array.isArray(found) ? found.some((item) => same(item, value)) : String(found).includes(String(value)),
  gt: (found: unknown, value: unknown) => Number(found) > Number(value),
  gte: (found: unknown, value: unknown) => Number(found) >= Number(value),
  lt: (found: unknown, value: unknown) => Number(found) < Number(value),
  lte: (found: unknown, value: unknown) => Number(found) <= Number(value),
} as const;
type ConditionMode = keyof typeof CONDITIONS;

interface Condition {
  path: Path;
  mode: ConditionMode;
  value: unknown;
  /** Negates the condition. */
  invert: boolean;
  /** The result where the place does not exist. */
  missing: boolean;
}

interface Arguments {
  path: Path;
  from: Path;
  to: Path;
  /** `from` and `to` as texts, for replace. */
  texts: { from: string; to: string };
  value: unknown;
  keep_origin: boolean;
}
type Edit = (body: Json, args: Arguments) => void;
interface Mode {
  /** Required members of the operation. */
  readonly needs: readonly ("path" | "from" | "to" | "value")[];
  readonly run: Edit;
}

/** A mode that turns a text at `path` into another. */
const onText = (needs: Mode["needs"], change: (text: string, args: Arguments) => string): Mode => ({
  needs: ["path", ...needs],
  run: (body, args) => {
    const found = read(body, args.path);
    if (typeof found === "string") write(body, args.path, change(found, args));
  },
});

/** The operations. Modes of other products that are not here (regex_replace, return_error, …) are refused. */
const MODES = {
  set: {
    needs: ["path", "value"],
    run: (body, { path, value, keep_origin }) => {
      if (!keep_origin || read(body, path) === undefined) write(body, path, structuredClone(value));
    },
  },
  delete: { needs: ["path"], run: (body, { path }) => remove(body, path) },
  move: { needs: ["from", "to"], run: (body, { from, to }) => carry(body, from, to, true) },
  copy: { needs: ["from", "to"], run: (body, { from, to }) => carry(body, from, to, false) },
  prepend: { needs: ["path", "value"], run: (body, args) => join(body, args, true) },
  append: { needs: ["path", "value"], run: (body, args) => join(body, args, false) },
  trim_prefix: onText(["value"], (text, { value }) =>
    text.startsWith(String(value)) ? text.slice(String(value).length) : text,
  ),
  trim_suffix: onText(["value"], (text, { value }) =>
    String(value) !== "" && text.endsWith(String(value)) ? text.slice(0, -String(value).length) : text,
  ),
  trim_space: onText([], (text) => text.trim()),
  replace: onText(["from"], (text, { texts }) =>
    texts.from === "" ? text : text.replaceAll(texts.from, () => texts.to),
  ),
} as const satisfies Record<string, Mode>;
type ModeName = keyof typeof MODES;

export const overrideModes = Object.keys(MODES) as readonly ModeName[]; // its own keys

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function same(a: unknown, b: unknown): boolean {
  return a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));
}

/** The steps of a path; undefined for an invalid one. Names with a meaning in JavaScript are refused. */
function parsePath(text: unknown): Path | undefined {
  if (typeof text !== "string" || text === "" || text.length > 500) return undefined;
  const steps = text.split(/(?<!\\)\./).map((step) => step.replaceAll("\\.", "."));
  return steps.some((step) => step === "" || step === "__proto__") ? undefined : steps;
}

/** The member of a list that a step names; undefined when there is none. */
function position(list: readonly unknown[], step: string): number | undefined {
  if (!/^-?\d{1,9}$/.test(step)) return undefined;
  const index = Number(step) < 0 ? list.length + Number(step) : Number(step);
  return index >= 0 ? index : undefined;
}

function child(place: unknown, step: string): unknown {
  if (Array.isArray(place)) {
    const index = position(place, step);
    return index === undefined ? undefined : place[index];
  }
  return isObject(place) && Object.hasOwn(place, step) ? place[step] : undefined;
}

const read = (body: unknown, path: Path): unknown => path.reduce(child, body);

/** Sets a place, creating the objects on the way. Does nothing where another value is in it. */
function write(body: Json, path: Path, value: unknown): void {
  let place: unknown = body;
  for (const [depth, step] of path.entries()) {
    const last = depth === path.length - 1;
    if (Array.isArray(place)) {
      const index = position(place, step);
      // One past the end makes a list longer; no holes.
      if (index === undefined || index > place.length) return;
      if (last) place[index] = value;
      else place = place[index];
    } else if (isObject(place)) {
      if (last) place[step] = value;
      else place = Object.hasOwn(place, step) && place[step] !== null ? place[step] : (place[step] = {});
    } else return;
  }
}

function remove(body: Json, path: Path): void {
  const step = path.at(-1) ?? "";
  const place = read(body, path.slice(0, -1));
  if (Array.isArray(place)) {
    const index = position(place, step);
    if (index !== undefined) place.splice(index, 1);
  } else if (isObject(place)) delete place[step];
}

function carry(body: Json, from: Path, to: Path, away: boolean): void {
  const found = read(body, from);
  if (found === undefined) return;
  if (away) remove(body, from);
  write(body, to, away ? found : structuredClone(found));
}

/** Texts are joined, lists made longer, objects laid one over the other (`keep_origin`: their own members win). */
function join(body: Json, { path, value, keep_origin }: Arguments, before: boolean): void {
  const found = read(body, path);
  const added = structuredClone(value);
  if (found === undefined || found === null) return write(body, path, added);
  if (typeof found === "string") return write(body, path, before ? String(added) + found : found + String(added));
  if (Array.isArray(found)) {
    const items: unknown[] = Array.isArray(added) ? added : [added];
    return write(body, path, before ? [...items, ...found] : [...found, ...items]);
  }
  if (isObject(found) && isObject(added))
    write(body, path, keep_origin ? { ...added, ...found } : { ...found, ...added });
}

function meets(body: Json, { path, mode, value, invert, missing }: Condition): boolean {
  const found = read(body, path);
  if (found === undefined) return missing;
  return CONDITIONS[mode](found, value) !== invert;
}

type Step = (body: Json) => void;

const MAX_OPERATIONS = 200;

class Wrong extends Error {
  constructor(readonly problem: Text) {
    super(problem.en);
  }
}
const wrong = (zh: string, en: string): never => {
  throw new Wrong({ zh, en });
};

function readCondition(value: unknown, at: string): Condition {
  if (!isObject(value)) return wrong(`${at} 的条件应为对象`, `a condition of ${at} must be an object`);
  const path = parsePath(value.path) ?? wrong(`${at} 的条件缺少有效的 path`, `a condition of ${at} needs a path`);
  const mode = String(value.mode ?? "full");
  if (!Object.hasOwn(CONDITIONS, mode))
    wrong(`${at} 的条件方式未知：${mode}`, `a condition of ${at} has an unknown mode: ${mode}`);
  return {
    path,
    mode: mode as ConditionMode,
    value: value.value,
    invert: value.invert === true,
    missing: value.pass_missing_key === true,
  };
}

/** Conditions are a list, or one object path -> value. */
function readConditions(value: unknown, at: string): Condition[] {
  if (value === undefined || value === null) return [];
  if (isObject(value)) return Object.entries(value).map(([path, wanted]) => readCondition({ path, value: wanted }, at));
  if (Array.isArray(value)) return value.map((condition) => readCondition(condition, at));
  return wrong(`${at} 的 conditions 应为列表`, `the conditions of ${at} must be a list`);
}

function readStep(value: unknown, index: number): Step {
  const at = `operations[${index}]`;
  if (!isObject(value)) return wrong(`${at} 应为对象`, `${at} must be an object`);
  const name = String(value.mode ?? "");
  if (!Object.hasOwn(MODES, name)) wrong(`${at} 的方式未知：${name}`, `${at} has an unknown mode: ${name}`);
  const mode: Mode = MODES[name as ModeName];
  const texts = {
    from: typeof value.from === "string" ? value.from : "",
    to: typeof value.to === "string" ? value.to : "",
  };
  for (const need of mode.needs) {
    const given =
      need === "value"
        ? value.value !== undefined
        : mode === MODES.replace && need === "from"
          ? texts.from !== ""
          : parsePath(value[need]) !== undefined;
    if (!given) wrong(`${at}（${name}）缺少有效的 ${need}`, `${at} (${name}) needs a ${need}`);
  }
  const conditions = readConditions(value.conditions, at);
  const all = String(value.logic ?? "OR").toUpperCase() === "AND";
  const args: Arguments = {
    path: parsePath(value.path) ?? [],
    from: parsePath(value.from) ?? [],
    to: parsePath(value.to) ?? [],
    texts,
    value: value.value,
    keep_origin: value.keep_origin === true,
  };
  return (body) => {
    const met = (condition: Condition): boolean => meets(body, condition);
    if (conditions.length === 0 || (all ? conditions.every(met) : conditions.some(met))) mode.run(body, args);
  };
}

function steps(stored: Json): Step[] {
  const { operations } = stored;
  if (Array.isArray(operations)) {
    if (operations.length > MAX_OPERATIONS)
      wrong(`operations 最多 ${MAX_OPERATIONS} 条`, `there may be at most ${MAX_OPERATIONS} operations`);
    return operations.map(readStep);
  }
  return Object.entries(stored)
    .filter(([name]) => name !== "__proto__")
    .map(
      ([name, value]) =>
        (body) =>
          void (body[name] = structuredClone(value)),
    );
}

/** The reason why a stored override cannot be used; undefined when it can. */
export function overrideProblem(stored: Readonly<Json>): Text | undefined {
  try {
    steps(stored);
    return undefined;
  } catch (error) {
    if (error instanceof Wrong) return error.problem;
    throw error;
  }
}

/**
 * The stored override as a function from a body to the changed body; the given one stays as it is. undefined when it
 * changes nothing. The caller decides whether a response is streamed: `stream` keeps its value. Throws for what
 * `overrideProblem` reports.
 */
export function compileOverride(stored: Readonly<Json>): ((body: Readonly<Json>) => Json) | undefined {
  const all = steps(stored);
  if (all.length === 0) return undefined;
  return (body) => {
    const changed: Json = structuredClone(body);
    for (const step of all) step(changed);
    if (body.stream === undefined) delete changed.stream;
    else changed.stream = body.stream;
    return changed;
  };
}
