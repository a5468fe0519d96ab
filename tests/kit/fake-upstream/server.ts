/**
 * The one fake upstream of development, tests, end-to-end runs and bench. Behaviours: behaviours.ts, or cli.ts --list.
 */
import { compose, type Json, object, text } from "./answer";
import { type Behaviour, BEHAVIOURS, parseBehaviour } from "./behaviours";
import { type Clock, realClock } from "./clock";
import { type Delivery, deliver, pause } from "./delivery";
import { anthropic } from "./dialects/anthropic";
import type { ErrorAnswer } from "./dialects/dialect";
import { openaiError, openaiErrorObject } from "./dialects/openai-errors";
import { openaiResponses } from "./dialects/openai-responses";
import * as operations from "./dialects/operations";
import { createJournal, type Journal, type JournalEntry } from "./journal";
import { compacted, counted, createVault } from "./vault";
import { createPrepared } from "./prepared";
import { findRoute, modelListStyle, type Route } from "./routes";
import { type Exchange, listen, type WireRequest } from "./wire";

export interface FakeUpstreamOptions {
  /** 0 (default): any free port. */
  port?: number;
  hostname?: string;
  clock?: Clock;
  /** false: nothing is recorded, and answers that depend only on the model name are encoded once (for bench). */
  journal?: boolean;
  /** The behaviour of one request (behaviours.ts); undefined: as its model's name says. Needs the journal. */
  behave?: (request: JournalEntry) => string | undefined;
  /** Awaited before the end of an answer: the last frames of a stream, or the whole of a plain answer. */
  beforeEnd?: () => Promise<void>;
}

export interface FakeUpstream {
  /** Origin without a trailing slash. */
  url: string;
  port: number;
  journal: Journal;
  /** TCP connections: open now, accepted in total. */
  connections: { readonly open: number; readonly accepted: number };
  /** Requests whose answer has not ended. */
  readonly active: number;
  /** Closes the listener and every connection. */
  close(): void;
  [Symbol.dispose](): void;
}

/** Model names the lists offer: every behaviour that is a name of its own. */
const MODEL_NAMES: readonly string[] = Object.keys(BEHAVIOURS).flatMap((word) =>
  word === "error" ? [400, 401, 403, 404, 429, 500, 502, 503, 529].map((status) => `error-${status}`) : [word],
);

/** Starts listening at once; throws when the port is taken. */
export function startFakeUpstream(options: FakeUpstreamOptions = {}): FakeUpstream {
  const {
    port = 0,
    hostname = "127.0.0.1",
    clock = realClock,
    journal: keepJournal = true,
    behave,
    beforeEnd,
  } = options;
  const journal = createJournal(clock);
  const prepared = createPrepared(clock);
  const vault = createVault();
  const failures = new Map<string, number>();
  let served = 0;
  let active = 0;

  function handle(exchange: Exchange): void {
    active++;
    if (!keepJournal && prepared.serve(exchange)) return;
    answer(exchange).catch((error: unknown) => {
      console.error("fake upstream:", error);
      exchange.connection.socket.terminate();
    });
  }

  async function answer(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const route = findRoute(request.method, request.path);
    const query = Object.fromEntries(new URLSearchParams(request.search));
    const body = await readBody(request);
    const model = route?.model ?? text(body?.model);
    const key = readKey(request.headers, query);
    const entry = keepJournal ? journal.open(exchange, { key, model, query }) : undefined;
    const id = `fake${(++served).toString().padStart(8, "0")}`;
    const headers = { "content-type": "application/json", "x-request-id": `req_${id}` };
    const fail = (error: ErrorAnswer): Promise<void> => sendError(exchange, error, headers);

    if (!route) return fail(openaiError(404, `no such endpoint: ${request.method} ${request.path}`));
    const { dialect } = route;
    if (route.operation === "kept") {
      const reply = await vault.answer(key, request, body);
      if (reply.status === 200) return sendWhole(exchange, reply, headers);
      return fail({ status: reply.status, body: openaiErrorObject(reply.message, "invalid_request_error", null) });
    }
    if (key.startsWith("bad-")) return fail(dialect.error("invalid_key"));
    if (key.startsWith("broke-")) return fail(dialect.error("no_quota"));
    if (key.startsWith("slow-")) await pause(exchange, clock, Number(/^slow-(\d+)/.exec(key)?.[1] ?? 300));
    if (!body) return fail(dialect.error(400, "We could not parse the JSON body of your request."));

    const behaviour = parseBehaviour((entry && behave?.(entry)) ?? model);
    if (behaviour.unknown.length > 0)
      return fail(dialect.error(400, `unknown behaviour: ${behaviour.unknown.join(", ")}`));
    if (behaviour.drop) return exchange.reset();
    if (behaviour.noQuota) return fail(dialect.error("no_quota"));
    if (behaviour.errorStatus !== undefined || behaviour.flaky > 0) {
      const failed = failures.get(`${model} ${key}`) ?? 0;
      if (behaviour.flaky === 0 || failed < behaviour.flaky) {
        failures.set(`${model} ${key}`, failed + 1);
        await pause(exchange, clock, behaviour.headMs);
        return fail(dialect.error(behaviour.errorStatus ?? 500));
      }
    }
    if (behaviour.errorIn200) return fail({ ...dialect.error("overloaded"), status: 200, headers: undefined });
    if (dialect === openaiResponses && route.operation === "generate") {
      const previous = text(body.previous_response_id);
      if (previous !== "" && !vault.has(key, previous))
        return fail(openaiError(400, `Previous response with id '${previous}' not found.`));
    }
    const framing = route.stream !== undefined && query.alt !== "sse" ? "json-array" : "sse";
    const delivery: Delivery = { exchange, behaviour, dialect, framing, headers, clock, beforeEnd };
    const content = produce({ ...route, model }, body, request, behaviour, id);
    if (dialect === openaiResponses && route.operation === "generate" && body.store !== false)
      vault.keep(key, content, body);
    return deliver(content, delivery);
  }

  const { listener, connections } = listen({ port, hostname }, handle, (exchange) => {
    active--;
    if (keepJournal) journal.close(exchange);
  });
  const close = (): void => listener.stop(true);
  return {
    url: `http://${hostname}:${listener.port}`,
    port: listener.port,
    journal,
    connections,
    get active() {
      return active;
    },
    close,
    [Symbol.dispose]: close,
  };
}

function produce(
  route: Route & { model: string },
  body: Json,
  request: WireRequest,
  behaviour: Behaviour,
  id: string,
): operations.Content {
  const { dialect, model } = route;
  switch (route.operation) {
    case "generate": {
      const answer = compose(behaviour, dialect.prompt(body), model, id);
      if (route.stream ?? body.stream === true) return { frames: dialect.frames(answer, body) };
      return { contentType: "application/json", body: Buffer.from(JSON.stringify(dialect.whole(answer, body))) };
    }
    case "embeddings":
      return operations.embeddings(body, model, behaviour);
    case "images":
      return operations.images(body, behaviour);
    case "speech":
      return operations.speech(body, behaviour);
    case "transcription":
      return operations.transcription(body, behaviour);
    case "moderations":
      return operations.moderations(body, model, id);
    case "rerank":
      return operations.rerank(body, model, id, behaviour);
    case "models":
      return operations.models(MODEL_NAMES, modelListStyle(route, request.headers));
    case "model":
      return operations.model(model);
    case "count-tokens":
      return dialect === anthropic
        ? operations.anthropicCountTokens(behaviour)
        : operations.geminiCountTokens(behaviour);
    case "embed-content":
      return operations.geminiEmbedContent(body);
    case "subscription":
      return operations.billingSubscription();
    case "usage":
      return operations.billingUsage();
    case "compact":
      return compacted(body, behaviour, id);
    case "input-tokens":
      return counted(behaviour);
    case "kept":
      throw new Error("the vault answers these");
  }
}

async function sendWhole(
  exchange: Exchange,
  { body, type }: { body: Uint8Array; type: string },
  headers: Record<string, string>,
): Promise<void> {
  await exchange.start(200, { ...headers, "content-type": type }, body.length);
  await exchange.write(body);
  await exchange.finish();
}

async function sendError(exchange: Exchange, error: ErrorAnswer, headers: Record<string, string>): Promise<void> {
  const body = Buffer.from(JSON.stringify(error.body));
  await exchange.start(error.status, { ...headers, ...error.headers }, body.length);
  await exchange.write(body);
  await exchange.finish();
}

/**
 * A JSON object or the text fields of a form; undefined for anything else. A request without a body is an empty object.
 */
async function readBody(request: WireRequest): Promise<Json | undefined> {
  if (request.body.length === 0) return {};
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) {
    try {
      const form = await new Response(new Uint8Array(request.body), { headers: { "content-type": type } }).formData();
      const fields: Json = {};
      form.forEach(
        (value, name) => (fields[name] = typeof value === "string" ? value : { size: value.size, name: value.name }),
      );
      return fields;
    } catch {
      return undefined;
    }
  }
  try {
    const value: unknown = JSON.parse(request.body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? object(value) : undefined;
  } catch {
    return undefined;
  }
}

function readKey(headers: Record<string, string>, query: Record<string, string>): string {
  const bearer = /^Bearer\s+(.*)$/i.exec(headers.authorization ?? "")?.[1];
  return bearer ?? headers["x-api-key"] ?? headers["api-key"] ?? headers["x-goog-api-key"] ?? query.key ?? "";
}
