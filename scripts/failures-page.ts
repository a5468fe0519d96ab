/** docs/generated/failures.md: a vendor's error, its kind, what the relay does, and what each caller reads. */
import { errors } from "../src/shared/errors";
import { failureClass, FAILURES, type FailureKind } from "../src/shared/failures";
import type { DialectKey } from "../src/server/protocol/chat-events";
import { chatDialects } from "../src/server/protocol/dialects/chat-dialects";
import type { OutFrame } from "../src/server/protocol/dialects/translation";
import { type FailureRule, failureRules } from "../src/server/protocol/failure-rules";
import type { RelayError } from "../src/server/protocol/relay-error";
import { type Failure, failureOf } from "../src/server/protocol/upstream-failure";
import { REFUSED, UNSOURCED, VENDOR_ERRORS, type VendorError } from "../src/server/protocol/vendor-errors";
import { failureError } from "../src/server/relay/response/error-response";
import { code, table } from "./markdown";

const kinds = Object.keys(FAILURES) as FailureKind[];

const seconds = (ms: number): string => (ms === 0 ? "no" : `${ms / 1000} s`);
const words = (name: string): string => name.replaceAll("_", " ");

/** The class of a kind, and the other one where a Retry-After decides. */
function classesOf(kind: FailureKind): string {
  const [usual, waiting] = [failureClass(kind, undefined), failureClass(kind, 1)].map(words);
  return usual === waiting ? `${usual}` : `${usual}; ${waiting} where it says how long`;
}

/** A code is the vendor's where it is quoted, and nothing of ours says more. */
const toldCode = (kind: FailureKind, { quote }: FailureRule): string => {
  const { told } = FAILURES[kind];
  return quote && told === "upstream_error" ? `the vendor's, else ${code(told)}` : code(told);
};

const kindsTable = (): string =>
  table(
    ["Kind", "Meaning", "Class", "Concerns", "Tried again", "Cooling", "Disables", "Status", "Code", "Vendor's words"],
    kinds.map((kind) => {
      const rule = failureRules[kind];
      return [
        code(kind),
        FAILURES[kind].en.replaceAll(/\[[^\]]*\]/g, ""),
        classesOf(kind),
        rule.owner,
        rule.retry === "no" ? "no" : `on ${words(rule.retry).replace("other", "another")}`,
        seconds(rule.cool_ms),
        rule.disable ? "yes" : "no",
        rule.status === undefined ? "the upstream's, 502 without one" : String(rule.status),
        toldCode(kind, rule),
        rule.quote ? "quoted" : "not quoted",
      ];
    }),
  );

const said = ({ code: codes, message }: VendorError): string =>
  [
    codes && `code ${codes instanceof RegExp ? code(String(codes)) : codes.map(code).join(", ")}`,
    message && `message ${code(String(message))}`,
  ]
    .filter((part) => part !== undefined)
    .join(" and ");

function placeOf({ status, message }: VendorError): string {
  if (status === "in_answer") return "in a 200 answer";
  const statuses = status ?? (message && REFUSED);
  return statuses === undefined ? "any status" : Array.isArray(statuses) ? statuses.join(", ") : String(statuses);
}

const vendorsTable = (): string =>
  table(
    ["Vendor", "Says", "Where", "Kind", "Source", "Read"],
    VENDOR_ERRORS.map((entry) => [
      entry.vendor,
      said(entry),
      placeOf(entry),
      code(entry.kind),
      ...(entry.source === UNSOURCED ? ["–", "–"] : [`<${entry.source}>`, entry.seen]),
    ]),
  );

/** Statuses of the examples' upstreams; a kind without one has no answer, or one that begins with 200. */
const STATUS: Readonly<Partial<Record<FailureKind, number>>> = {
  caller_mistake: 422,
  context_too_long: 400,
  too_large: 413,
  over_account_rate: 429,
  content_filtered: 400,
  rate_limited: 429,
  quota_exhausted: 402,
  bad_credentials: 401,
  forbidden: 403,
  model_missing: 404,
  overloaded: 503,
  server_error: 500,
};
const TOKENS = { used: 130_000, limit: 128_000 };

/** A failure of each kind, as the relay has it after the last attempt. */
function example(kind: FailureKind): Failure {
  const failure = failureOf(kind, STATUS[kind], kind === "timeout" ? "first_byte" : undefined);
  return {
    ...failure,
    status: failureRules[kind].status ?? STATUS[kind] ?? failure.status,
    ...(failure.quote && { error: { message: "The vendor's words.", type: "", code: "", param: null } }),
    ...(kind === "context_too_long" && { tokens: TOKENS }),
    ...(/limited$/.test(kind) && { retry_after_s: 20 }),
  };
}

/** What a caller's dialect writes for an error. */
type Write = (error: RelayError) => object;

/** The event that ends a Responses stream; the members of the response that say nothing of the error are left out. */
const responsesEvent: Write = (error) => {
  const out: OutFrame[] = [];
  const context = { id: "req-1", model: "m", created: 0, include_usage: false };
  chatDialects["openai-responses"].streamEncoder(context, () => undefined).fail(error, out);
  const { type, response } = JSON.parse(out.at(-1)?.data ?? "") as { type: string; response: Record<string, unknown> };
  return { type, response: { status: response.status, error: response.error } };
};

/** OpenAI's body is that of its Responses too, and of every operation without a dialect of its own. */
const DOORS: Readonly<Record<DialectKey, readonly [name: string, write: Write]>> = {
  "openai-chat": [
    "OpenAI: chat completions, Responses and all other operations",
    chatDialects["openai-chat"].writeError,
  ],
  "openai-responses": ["OpenAI Responses, in a stream", responsesEvent],
  anthropic: ["Anthropic", chatDialects.anthropic.writeError],
  gemini: ["Gemini", chatDialects.gemini.writeError],
};

const doorTable = (write: Write): string =>
  table(
    ["Kind", "Status", "Error"],
    kinds.map((kind) => {
      const error = failureError(example(kind), "en", "req-1");
      return [code(kind), String(error.status), code(JSON.stringify(write(error)))];
    }),
  );

/** How a client knows that the context is full; read November 2026. */
const CLIENTS: readonly string[][] = [
  [
    "Codex",
    "code `context_length_exceeded` in a stream's `response.failed`; no status and no message",
    "<https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs>",
  ],
  [
    "Claude Code",
    "message with `prompt is too long`, or ``input length and `max_tokens` exceed context limit``; no type and no status",
    "<https://code.claude.com/docs/en/llm-gateway-protocol>",
  ],
  [
    "opencode",
    "code `context_length_exceeded`, status 413, or a message such as `prompt is too long`, `exceeds the context window`, `input token count … exceeds the maximum`, `maximum context length is … tokens`",
    "<https://github.com/anomalyco/opencode/blob/dev/packages/opencode/src/provider/error.ts>",
  ],
  [
    "LiteLLM",
    "message with `this model's maximum context length is`, `prompt is too long`, `exceeds the maximum number of tokens allowed`",
    "<https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/exception_mapping_utils.py>",
  ],
  [
    "Gemini CLI",
    "nothing: it shows `The input token count (…) exceeds the maximum number of tokens allowed (…)`",
    "<https://github.com/google-gemini/gemini-cli/issues/6678>",
  ],
];

export const failuresPage = (): string =>
  `What goes wrong with an upstream has one kind, and everything follows from it. Codes in a log row begin with \`failure.\`; ` +
  `the relay's own errors are in [errors.md](errors.md).\n\n` +
  `## Kinds\n\n` +
  `Rows of \`src/shared/failures.ts\` and \`src/server/protocol/failure-rules.ts\`. Classes: an *account* failure stays until ` +
  `the channel's operator acts; a *named wait* ends when the upstream said; a *transient* one may pass by itself; *caller*: ` +
  `the request's own; *ours*: a limit of our own. Cooling is how long the pair of channel and model is left alone; ` +
  `a Retry-After wins, except over a caller's own failure.\n\n${kindsTable()}\n` +
  `## Vendors' errors\n\n` +
  `\`src/server/protocol/vendor-errors.ts\`: the first that matches decides, then the status. A code is the error's code or type. ` +
  `–: a word of earlier releases without a page that shows it. Numbers of ` +
  `vendors with a dialect of their own are read into these words by that dialect (\`src/server/protocol/dialects/shared/error-kind.ts\`).\n\n${vendorsTable()}\n` +
  `## What callers read\n\n` +
  `Written by the dialects themselves, for a call that was tried once. The input is ${TOKENS.used} tokens long and ` +
  `may have ${TOKENS.limit}, where that is told. ${code("input_too_long")} (${errors.input_too_long.status}), raised before any upstream is asked, reads as ` +
  `${code("context_too_long")}. A streamed Responses call that is too long is answered by 200 and the event.\n\n` +
  Object.values(DOORS)
    .map(([name, write]) => `### ${name}\n\n${doorTable(write)}`)
    .join("\n") +
  `\n## How clients know that the context is full\n\n${table(
    ["Client", "Looks for", "Source"],
    CLIENTS.map((row) => [...row]),
  )}`;
