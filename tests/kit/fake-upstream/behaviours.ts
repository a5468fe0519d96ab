/**
 * The behaviour language: a model name is `part+part+…`, a part is `word:parameter:parameter…`. The first part may be
 * any name (`gpt-4o`, `gpt-4o+slow`), so real model names can be priced and still misbehave; an unknown later part is
 * an error, so that a typo does not pass as a good answer.
 */

/**
 * Token counts an answer reports. Totals include their parts: input holds cache and audio, output holds reasoning and
 * audio.
 */
export interface FakeUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** The part of cacheWrite with a lifetime of an hour (Anthropic). */
  cacheWrite1h: number;
  reasoning: number;
  audioIn: number;
  audioOut: number;
}

/** Where a broken answer stops. */
export type Break =
  | "cut-head"
  | "cut-midstream"
  | "cut-clean"
  | "error-midstream"
  | "hang-before-headers"
  | "hang-after-headers"
  | "hang-in-frame"
  | "hang-after-done";

export interface Behaviour {
  text:
    | { kind: "echo" }
    | { kind: "words"; count: number }
    | { kind: "bytes"; count: number }
    | { kind: "json" }
    | { kind: "none" };
  reasoning: boolean;
  /** "split": two tools in parallel, arguments in small fragments. */
  tools: "none" | "whole" | "split";
  refusal: boolean;
  finish: "stop" | "length" | "content_filter";
  choices: number;
  usage: FakeUsage;
  usageMode: "normal" | "none" | "late" | "every-chunk";
  lateMs: number;

  headMs: number;
  /** Pause between content frames; 0 writes them one after the other. */
  paceMs: number;
  /** All frames in a single write. */
  burst: boolean;

  /** Answer with this status and the vendor's error object. */
  errorStatus?: number;
  /** How often to fail (with errorStatus, else 500) before working; counted per model and key. */
  flaky: number;
  errorIn200: boolean;
  /** The vendor's answer to an account without money. */
  noQuota: boolean;
  /** The connection ends without a byte of an answer. */
  drop: boolean;
  break?: Break;
  /** Content frames that arrive before a break in the stream. */
  breakAfter: number;

  html?: number;
  badJson: boolean;
  liesLength?: "long" | "short";
  liesGzip: boolean;
  gzip: boolean;
  /** Bytes of one oversized frame; 0: none. */
  bigFrame: number;

  eol: "\n" | "\r\n";
  splitBytes: boolean;
  comments: boolean;
  multiData: boolean;
  space: boolean;
  emptyChoices: boolean;

  /** Later parts that are not behaviours. */
  unknown: string[];
}

type Apply = (behaviour: Behaviour, numbers: number[], raw: string[]) => void;

const breakAt =
  (kind: Break): Apply =>
  (b, [after]) => {
    b.break = kind;
    b.breakAfter = after ?? b.breakAfter;
  };

function words(b: Behaviour, count: number): void {
  b.text = { kind: "words", count };
  b.usage.output = count;
}

/** Every behaviour: its usage line for people, and what it does. */
export const BEHAVIOURS: Record<string, { usage: string; apply: Apply }> = {
  echo: {
    usage: "echo: answers the last user text, word by word (default)",
    apply: (b) => (b.text = { kind: "echo" }),
  },
  words: { usage: "words:N: N content chunks (default 50), output tokens N", apply: (b, [n = 50]) => words(b, n) },
  text: {
    usage: "text:N: a text of N bytes in chunks of about 50",
    apply: (b, [n = 1024]) => (b.text = { kind: "bytes", count: n }),
  },
  paced: {
    usage: "paced:N:MS: N content chunks, MS apart (50, 4)",
    apply: (b, [n = 50, ms = 4]) => (words(b, n), (b.paceMs = ms)),
  },
  burst: {
    usage: "burst:N: N content chunks in one write (50)",
    apply: (b, [n = 50]) => (words(b, n), (b.burst = true)),
  },
  slow: {
    usage: "slow[:MS]: MS before the head and between chunks (50)",
    apply: (b, [ms = 50]) => ((b.headMs = ms), (b.paceMs = ms)),
  },
  "slow-head": { usage: "slow-head:MS: MS before the head (800)", apply: (b, [ms = 800]) => (b.headMs = ms) },
  reasoning: {
    usage: "reasoning[:N]: reasoning before the answer, N reasoning tokens (8)",
    apply: (b, [n = 8]) => ((b.reasoning = true), (b.usage.reasoning = n)),
  },
  tool: {
    usage: "tool: one tool call, whole arguments",
    apply: (b) => ((b.tools = "whole"), (b.text = { kind: "none" })),
  },
  "tool-split": {
    usage: "tool-split: text, then two parallel tool calls, arguments in fragments",
    apply: (b) => (b.tools = "split"),
  },
  json: { usage: "json: the text is a JSON object", apply: (b) => (b.text = { kind: "json" }) },
  usage: {
    usage: "usage:IN:OUT: exact usage",
    apply: (b, [input = 10, output = 20]) => Object.assign(b.usage, { input, output }),
  },
  cached: {
    usage: "cached:IN:READ:WRITE[:OUT[:WRITE_1H]]: input of which READ and WRITE are cache (WRITE_1H is part of WRITE)",
    apply: (b, [input = 1000, cacheRead = 400, cacheWrite = 0, output = b.usage.output, cacheWrite1h = 0]) =>
      Object.assign(b.usage, { input, cacheRead, cacheWrite, output, cacheWrite1h }),
  },
  "audio-usage": {
    usage: "audio-usage[:IN:OUT]: audio tokens inside the totals (30, 40); totals grow to hold them",
    apply: ({ usage }, [audioIn = 30, audioOut = 40]) =>
      Object.assign(usage, {
        audioIn,
        audioOut,
        input: Math.max(usage.input, audioIn),
        output: Math.max(usage.output, audioOut),
      }),
  },
  "no-usage": { usage: "no-usage: usage nowhere", apply: (b) => (b.usageMode = "none") },
  "late-usage": {
    usage: "late-usage[:MS]: usage MS after the finish reason (200)",
    apply: (b, [ms = 200]) => ((b.usageMode = "late"), (b.lateMs = ms)),
  },
  "usage-every-chunk": {
    usage: "usage-every-chunk: growing usage in each chunk, asked for or not",
    apply: (b) => (b.usageMode = "every-chunk"),
  },
  error: {
    usage: "error-STATUS: the vendor's error object (429 with Retry-After)",
    apply: (b, [n = 500]) => (b.errorStatus = n),
  },
  "error-in-200": { usage: "error-in-200: status 200, body an error object", apply: (b) => (b.errorIn200 = true) },
  "no-quota": { usage: "no-quota: the account has no money left", apply: (b) => (b.noQuota = true) },
  drop: { usage: "drop: the connection ends without an answer", apply: (b) => (b.drop = true) },
  "error-midstream": {
    usage: "error-midstream[:K]: the vendor's error event after K chunks (2)",
    apply: breakAt("error-midstream"),
  },
  flaky: {
    usage: "flaky:N: fails N times per model and key (500, or +error-STATUS), then works",
    apply: (b, [n = 1]) => (b.flaky = n),
  },
  "cut-head": { usage: "cut-head: reset inside the response head", apply: breakAt("cut-head") },
  "cut-midstream": { usage: "cut-midstream[:K]: socket reset after K chunks (2)", apply: breakAt("cut-midstream") },
  "cut-clean": {
    usage: "cut-clean[:K]: well-formed HTTP end after K chunks, no finish, no [DONE]",
    apply: breakAt("cut-clean"),
  },
  "hang-before-headers": {
    usage: "hang-before-headers: accepts and stays silent",
    apply: breakAt("hang-before-headers"),
  },
  "hang-after-headers": { usage: "hang-after-headers: head, then nothing", apply: breakAt("hang-after-headers") },
  "hang-in-frame": {
    usage: "hang-in-frame[:K]: K chunks and half a frame, then nothing",
    apply: breakAt("hang-in-frame"),
  },
  "hang-after-done": {
    usage: "hang-after-done: everything, but the body never ends",
    apply: breakAt("hang-after-done"),
  },
  "html-error": { usage: "html-error[:STATUS]: an HTML page (502)", apply: (b, [n = 502]) => (b.html = n) },
  "html-200": { usage: "html-200: an HTML page with status 200", apply: (b) => (b.html = 200) },
  "bad-json": { usage: "bad-json: invalid JSON (one frame of a stream)", apply: (b) => (b.badJson = true) },
  "lies-length": {
    usage: "lies-length[:long|short]: content-length above or below the body",
    apply: (b, _, [kind]) => (b.liesLength = kind === "short" ? "short" : "long"),
  },
  "lies-gzip": { usage: "lies-gzip: content-encoding gzip on plain bytes", apply: (b) => (b.liesGzip = true) },
  gzip: { usage: "gzip: really compressed", apply: (b) => (b.gzip = true) },
  huge: {
    usage: "huge:N: a text of N MB in 16 KB chunks (8)",
    apply: (b, [n = 8]) => (b.text = { kind: "bytes", count: n * 1048576 }),
  },
  "big-frame": {
    usage: "big-frame:N: one content frame of N KB (1024)",
    apply: (b, [n = 1024]) => (b.bigFrame = n * 1024),
  },
  crlf: { usage: "crlf: CRLF line ends", apply: (b) => (b.eol = "\r\n") },
  "split-bytes": { usage: "split-bytes: every byte its own write", apply: (b) => (b.splitBytes = true) },
  comments: { usage: "comments: comments and the vendor's pings in between", apply: (b) => (b.comments = true) },
  "multi-data": { usage: "multi-data: several data lines an event", apply: (b) => (b.multiData = true) },
  "no-space": { usage: "no-space: `data:{…}`", apply: (b) => (b.space = false) },
  "empty-choices": { usage: "empty-choices: a first chunk without choices", apply: (b) => (b.emptyChoices = true) },
  "role-only": { usage: "role-only: the role and no content", apply: (b) => (b.text = { kind: "none" }) },
  "finish-length": { usage: "finish-length: ends at the token limit", apply: (b) => (b.finish = "length") },
  "content-filter": { usage: "content-filter: stopped by the filter", apply: (b) => (b.finish = "content_filter") },
  refusal: { usage: "refusal: the model refuses", apply: (b) => ((b.refusal = true), (b.text = { kind: "none" })) },
  n: { usage: "n:K: K choices where the dialect has them (2)", apply: (b, [n = 2]) => (b.choices = n) },
};

/** Default usage of an answer whose name says nothing about it. */
const DEFAULT_USAGE: Readonly<FakeUsage> = {
  input: 10,
  output: 20,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  audioIn: 0,
  audioOut: 0,
};

const parsed = new Map<string, Behaviour>();

/** Reads a model name. The result is shared: do not change it. */
export function parseBehaviour(model: string): Behaviour {
  const known = parsed.get(model);
  if (known) return known;
  const behaviour: Behaviour = {
    text: { kind: "echo" },
    reasoning: false,
    tools: "none",
    refusal: false,
    finish: "stop",
    choices: 1,
    usage: { ...DEFAULT_USAGE },
    usageMode: "normal",
    lateMs: 200,
    headMs: 0,
    paceMs: 0,
    burst: false,
    flaky: 0,
    errorIn200: false,
    noQuota: false,
    drop: false,
    breakAfter: 2,
    badJson: false,
    liesGzip: false,
    gzip: false,
    bigFrame: 0,
    eol: "\n",
    splitBytes: false,
    comments: false,
    multiData: false,
    space: true,
    emptyChoices: false,
    unknown: [],
  };
  model.split("+").forEach((part, position) => {
    const [word = "", ...raw] = part.split(":");
    const status = /^error-(\d{3})$/.exec(word)?.[1];
    const known = Object.hasOwn(BEHAVIOURS, status ? "error" : word) ? BEHAVIOURS[status ? "error" : word] : undefined;
    if (known) known.apply(behaviour, status ? [Number(status)] : raw.map(Number), raw);
    else if (position > 0) behaviour.unknown.push(part);
  });
  const { usage } = behaviour;
  usage.reasoning = Math.min(usage.reasoning, usage.output);
  if (parsed.size < 2000) parsed.set(model, behaviour);
  return behaviour;
}
