/**
 * Calls whose arguments come in pieces (FunctionCall.partialArgs and willContinue: types of @google/genai 3.1; Vertex
 * AI, streaming function call arguments; read November 2026). Callers of other dialects get them whole.
 */
import type { WireObject } from "../../chat-events";
import { isObject, list, objects, text } from "../shared/json";

type Container = Record<string, unknown> | unknown[];

/** Steps of a path such as `$.rooms[0].name`; the form that Google writes (RFC 9535 knows more). */
const STEPS = /\.([^.[\]]{1,256})|\[(\d{1,4})\]|\['([^']{0,256})'\]/g;
const MOST_STEPS = 64;

const isContainer = (value: unknown): value is Container => isObject(value) || Array.isArray(value);

function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(STEPS)].slice(0, MOST_STEPS).map(([, name, index, quoted]) => {
    return index === undefined ? (name ?? quoted ?? "") : Number(index);
  });
}

const read = (from: Container, step: string | number): unknown =>
  Object.hasOwn(from, step) ? Reflect.get(from, step) : undefined;

function write(to: Container, step: string | number, value: unknown): void {
  Object.defineProperty(to, step, { value, enumerable: true, configurable: true, writable: true });
}

/** Puts one piece where its path says; pieces of a text are joined. */
function put(args: Container, { jsonPath, ...piece }: WireObject): void {
  const steps = stepsOf(text(jsonPath));
  const last = steps.pop();
  if (last === undefined) return;
  let at = args;
  for (const [position, step] of steps.entries()) {
    const known = read(at, step);
    const next: Container = isContainer(known) ? known : typeof (steps[position + 1] ?? last) === "number" ? [] : {};
    if (next !== known) write(at, step, next);
    at = next;
  }
  const { stringValue, numberValue, boolValue } = piece;
  const before = read(at, last);
  if (typeof stringValue === "string") write(at, last, (typeof before === "string" ? before : "") + stringValue);
  else write(at, last, numberValue ?? boolValue ?? null);
}

/** The calls of one candidate. */
export class PartialCalls {
  #open: { part: WireObject; call: WireObject; args: Record<string, unknown> } | undefined;

  /** The parts of a frame, with each call that came in pieces where its last piece is. */
  join(parts: unknown): unknown {
    if (!this.#open && !list(parts).some((part) => isObject(part) && startsPartial(part.functionCall))) return parts;
    return objects(parts).flatMap((part) => this.#take(part));
  }

  /** What is left of a call whose last piece never came. */
  end(): WireObject[] {
    const { part, call, args } = this.#open ?? {};
    this.#open = undefined;
    return part && call ? [{ ...part, functionCall: { ...call, args } }] : [];
  }

  #take(part: WireObject): WireObject[] {
    const { functionCall: call } = part;
    if (!isObject(call)) return [...this.end(), part];
    const { partialArgs, willContinue, ...own } = call;
    const isNext = this.#open !== undefined && (own.name === undefined || own.name === "");
    if (!isNext && !startsPartial(call)) return [...this.end(), part];
    const done = isNext ? [] : this.end();
    this.#open ??= { part, call: own, args: { ...(isObject(own.args) && own.args) } };
    const { args } = this.#open;
    for (const piece of objects(partialArgs)) put(args, piece);
    return willContinue === true ? done : [...done, ...this.end()];
  }
}

const startsPartial = (call: unknown): boolean =>
  isObject(call) && (call.willContinue === true || call.partialArgs !== undefined);
