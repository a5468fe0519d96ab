/**
 * The fast path for bench: answers that depend only on model name and dialect are encoded once. The request is not
 * parsed: a quoted `"model"` followed by a colon can only be a key in JSON, because quotes inside strings are escaped.
 */
import { compose } from "./answer";
import { type Behaviour, parseBehaviour } from "./behaviours";
import type { Clock } from "./clock";
import { pause } from "./delivery";
import { findRoute, type Route } from "./routes";
import { encodeFrames } from "./sse";
import { chunk, encodeAnswer, encodeHead, type Exchange } from "./wire";

const MODEL = Buffer.from('"model"');
const STREAM = /"stream"\s*:\s*true/;
const INCLUDE_USAGE = /"include_usage"\s*:\s*true/;
const QUOTE = 34;

type Prepared = { whole: Uint8Array } | { head: Uint8Array; groups: Uint8Array[]; behaviour: Behaviour };

/** The first top-level-looking model name of a JSON body; undefined when there is none or it has escapes. */
export function scanModel(body: Buffer): string | undefined {
  const key = body.indexOf(MODEL);
  if (key < 0) return undefined;
  const start = body.indexOf(QUOTE, key + MODEL.length) + 1;
  const end = body.indexOf(QUOTE, start);
  if (start === 0 || end < 0) return undefined;
  const name = body.toString("utf8", start, end);
  return name.includes("\\") ? undefined : name;
}

/** Whether bytes and order of an answer follow from the model name, with nothing but pauses between. */
function preparable(b: Behaviour): boolean {
  const { text } = b;
  const small =
    (text.kind === "words" && text.count <= 2000) ||
    (text.kind === "bytes" && text.count <= 262144) ||
    text.kind === "json";
  return (
    small &&
    b.tools === "none" &&
    b.unknown.length === 0 &&
    b.errorStatus === undefined &&
    b.flaky === 0 &&
    !b.errorIn200 &&
    !b.noQuota &&
    !b.drop &&
    !b.break &&
    !b.html &&
    !b.badJson &&
    !b.liesLength &&
    !b.liesGzip &&
    !b.gzip &&
    !b.splitBytes &&
    b.usageMode !== "late"
  );
}

export function createPrepared(clock: Clock): { serve(exchange: Exchange): boolean } {
  const routes = new Map<string, Route | null>();
  const answers = new Map<string, Prepared | null>();

  function prepare(route: Route, model: string, stream: boolean, includeUsage: boolean): Prepared | null {
    const behaviour = parseBehaviour(model);
    if (!preparable(behaviour)) return null;
    const answer = compose(behaviour, { lastUserText: "", toolNames: [] }, model, "prepared");
    const request = includeUsage ? { stream_options: { include_usage: true } } : {};
    const headers = { "content-type": "application/json", "x-request-id": "req_prepared" };
    if (!stream) {
      const body = Buffer.from(JSON.stringify(route.dialect.whole(answer, request)));
      if (behaviour.headMs === 0) return { whole: encodeAnswer(200, headers, body) };
      return { head: encodeHead(200, headers, body.length), groups: [body], behaviour };
    }
    const frames = encodeFrames(route.dialect.frames(answer, request), behaviour, "sse", route.dialect.ping);
    const sse = { ...headers, "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
    if (behaviour.paceMs === 0 && behaviour.headMs === 0) {
      const bytes = frames.map((frame) => frame.bytes);
      return { whole: encodeAnswer(200, sse, behaviour.burst ? [Buffer.concat(bytes)] : bytes) };
    }
    const groups: Uint8Array[][] = [[]];
    let content = 0;
    for (const frame of frames) {
      if (frame.kind === "content" && content++ > 0) groups.push([]);
      groups.at(-1)?.push(chunk(frame.bytes));
    }
    groups.at(-1)?.push(Buffer.from("0\r\n\r\n"));
    return { head: encodeHead(200, sse), groups: groups.map((group) => Buffer.concat(group)), behaviour };
  }

  async function paced(exchange: Exchange, answer: Extract<Prepared, { head: Uint8Array }>): Promise<void> {
    const { headMs, paceMs } = answer.behaviour;
    await pause(exchange, clock, headMs);
    await exchange.raw(answer.head);
    const begun = clock.now();
    for (let i = 0; i < answer.groups.length && !exchange.over; i++) {
      // By the first event, not the last: otherwise streams that were late together would stay together. Not `pause`: a
      // race with the caller's disconnect doubles the cost, and these pauses are short.
      const wait = i > 0 ? begun + i * paceMs - clock.now() : 0;
      if (wait > 0) await clock.sleep(wait);
      await exchange.raw(answer.groups[i] ?? Buffer.alloc(0));
    }
    if (!exchange.over) await exchange.finish();
  }

  return {
    /** True when it answered, or is answering. */
    serve(exchange) {
      const { method, path, body } = exchange.request;
      if (method !== "POST") return false;
      let route = routes.get(path);
      if (route === undefined) {
        const found = findRoute(method, path);
        route = found?.operation === "generate" ? found : null;
        if (routes.size < 1000) routes.set(path, route);
      }
      // Gemini has the model and the method in the path; without alt=sse its stream is a list.
      const model = route ? (route.model ?? scanModel(body)) : undefined;
      if (
        !route ||
        model === undefined ||
        (route.stream === true && !/(^|&)alt=sse(&|$)/.test(exchange.request.search))
      )
        return false;
      // The two flags are usually near an end of the body, but not always: search all of it.
      const source = body.toString("latin1");
      const stream = route.stream ?? STREAM.test(source);
      const includeUsage = stream && INCLUDE_USAGE.test(source);
      const name = `${path} ${stream ? 1 : 0}${includeUsage ? 1 : 0} ${model}`;
      let answer = answers.get(name);
      if (answer === undefined) {
        answer = prepare(route, model, stream, includeUsage);
        if (answers.size < 1000) answers.set(name, answer);
      }
      if (!answer) return false;
      if ("whole" in answer) exchange.sendPrepared(answer.whole);
      else void paced(exchange, answer);
      return true;
    },
  };
}
