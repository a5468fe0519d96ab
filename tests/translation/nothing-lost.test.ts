/**
 * Whatever a caller asks for arrives at the vendor by its value, or a warning names it: over every member of the
 * neutral prompt, from every caller's dialect to every upstream dialect. What has to be asked, where a value may stand
 * and who can say it are tables whose types follow the neutral types (nothing-lost-samples.ts, nothing-lost-wire*.ts).
 */
import { describe, expect, test } from "bun:test";
import {
  type ChatPrompt,
  type DialectKey,
  dialectKeys,
  type Warn,
  type WireObject,
} from "../../src/server/protocol/chat-events";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { isObject } from "../../src/server/protocol/dialects/shared/json";
import { Warnings } from "../../src/server/protocol/dialects/shared/warnings";
import { type UpstreamDialectKey, upstreamDialects } from "../../src/server/protocol/dialects/vendor-dialects";
import { translateRequest } from "../../src/server/protocol/translate";
import { arrives, type Note, supportOf } from "./nothing-lost-kit";
import { type Key, type Sample, samples } from "./nothing-lost-samples";
import { wire } from "./nothing-lost-wire-others";

/** Models that take different things: together they take all that a dialect can say. */
const models: Readonly<Record<UpstreamDialectKey, readonly string[]>> = {
  "openai-chat": ["gpt-4o", "gpt-5.2", "deepseek-chat"],
  "openai-responses": ["gpt-4o", "gpt-5.2", "deployment"],
  anthropic: ["claude-3-5-sonnet-latest", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5"],
  gemini: ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3.5-flash"],
  cohere: ["command-a-03-2025"],
  dify: ["chat", "completion"],
  coze: ["bot"],
  palm: ["chat-bison-001"],
  mistral: ["mistral-large-latest"],
  "aiproxy-library": ["library"],
  baidu: ["ernie-4.0-8k"],
  "zhipu-v3": ["chatglm_std"],
  spark: ["generalv3.5"],
  tencent: ["hunyuan-turbo"],
  bedrock: ["amazon.nova-pro-v1:0", "meta.llama3-3-70b-instruct-v1:0"],
};

/** A call that asks for nothing more. */
const plain: Readonly<Record<DialectKey, WireObject>> = {
  "openai-chat": { messages: [{ role: "user", content: "QUESTION" }] },
  "openai-responses": { input: "QUESTION" },
  anthropic: { max_tokens: 100, messages: [{ role: "user", content: "QUESTION" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "QUESTION" }] }] },
};
const question: ChatPrompt = {
  model: "asked",
  messages: [{ role: "user", content: [{ type: "text", text: "QUESTION" }] }],
};

const keys = Object.keys(samples) as Key[]; // the keys of the record
const upstreams = Object.keys(upstreamDialects) as UpstreamDialectKey[]; // the same

type Source = DialectKey | "neutral";
const sources: readonly Source[] = ["neutral", ...dialectKeys];

interface Sent {
  readonly body: WireObject;
  readonly warnings: readonly Note[];
}

/** What goes to `to`, once for each way to say it; none where the source has no word for it. */
function send(source: Source, to: UpstreamDialectKey, key: Key, model: string): Sent[] {
  if (source !== "neutral") {
    const said = wire[source][key];
    return said ? [translateRequest(source, to, { ...plain[source], ...said }, model, { model: "asked" })] : [];
  }
  const { prompt, others = [] } = samples[key];
  const { encodeRequest, fromOthers = (same) => same } = upstreamDialects[to];
  return [prompt, ...others].map((asked) => {
    const { warn, list } = collecting();
    const body = encodeRequest(fromOthers({ ...question, ...asked, model }, warn), warn);
    return { body, warnings: list() };
  });
}

function collecting(): { warn: Warn; list: () => readonly Note[] } {
  const warnings = new Warnings();
  return { warn: warnings.warn, list: () => warnings.list };
}

const lastWord = (key: Key): string => key.split(".").at(-1) ?? key;

const isNamed = ({ detail }: Note, key: Key, { named }: Sample): boolean =>
  named ? named.test(detail) : detail.split(/[.: ]/).includes(lastWord(key));

const isWarned = (warnings: readonly Note[], key: Key, sample: Sample): boolean =>
  warnings.some((warning) => warning.code.startsWith("dropped_") && isNamed(warning, key, sample));

/** The vendor has the nearest thing to it, and the log says so. */
const nearest: Partial<Record<UpstreamDialectKey, readonly Key[]>> = {
  // Some models cannot be forced to use a tool.
  anthropic: ["tool_choice", "tool_choice.name"],
  spark: ["tool_choice", "tool_choice.name"],
  baidu: ["tool_choice", "format.json_schema"],
};

const isNearest = (to: UpstreamDialectKey, key: Key, sample: Sample, warnings: readonly Note[]): boolean =>
  nearest[to]?.includes(key) === true &&
  warnings.some((warning) => warning.code === "changed_value" && isNamed(warning, key, sample));

/**
 * What arrives under a condition that the samples do not meet, and is a warning otherwise: thoughts need a signature of
 * the vendor's own, a caller's extra members must be words of the vendor's own. The dialects' own tests hold these.
 */
const conditional: Partial<Record<UpstreamDialectKey, readonly Key[]>> = {
  "openai-responses": ["reasoning"],
  anthropic: ["reasoning"],
  gemini: ["reasoning"],
  cohere: ["extra"],
  dify: ["extra"],
  coze: ["extra"],
  mistral: ["messages.extra", "tool_result.extra", "extra"],
  baidu: ["format.json_schema", "extra"],
  spark: ["tool_choice", "tool_choice.name"],
  tencent: ["extra"],
  bedrock: ["extra"],
};

/** OpenAI's own models show no thoughts in chat. */
const showsNoThoughts = (key: Key, model: string): boolean =>
  key === "prompt.reasoning.show" && model.startsWith("gpt-");

for (const to of upstreams) {
  const table = upstreamDialects[to].requestSupport;
  describe(to, () => {
    const arrived = new Set<Key>();

    for (const source of sources) {
      test(`gets what a ${source} call says, or a warning names it`, () => {
        const lost: string[] = [];
        for (const key of keys) {
          const sample = samples[key];
          for (const model of models[to]) {
            for (const { body, warnings } of send(source, to, key, model)) {
              const found = arrives(body, sample.leaves);
              if (found) arrived.add(key);
              if (found || isWarned(warnings, key, sample) || isNearest(to, key, sample, warnings)) continue;
              if (!(to === "openai-chat" && showsNoThoughts(key, model)))
                lost.push(`${key} (${model}): ${JSON.stringify(body)} ${JSON.stringify(warnings)}`);
            }
          }
        }
        expect(lost).toEqual([]);
      });
    }

    test("gets everything that its table calls sent, from one caller and for one model at least", () => {
      const claims = keys.filter((key) => supportOf(table, key) !== "unsupported" && !arrived.has(key));
      expect(claims).toEqual([...(conditional[to] ?? [])]);
    });

    test("warns of everything that its table calls unsupported", () => {
      const silent: string[] = [];
      for (const key of keys) {
        if (supportOf(table, key) !== "unsupported" || key === "format.text") continue;
        for (const model of models[to]) {
          const [sent] = send("neutral", to, key, model);
          if (sent && !isWarned(sent.warnings, key, samples[key])) silent.push(`${key} (${model})`);
        }
      }
      expect(silent).toEqual([]);
    });
  });
}

describe("what a caller says", () => {
  for (const from of dialectKeys) {
    test(`in ${from} is read into the neutral prompt`, () => {
      const unread: string[] = [];
      for (const key of keys) {
        const said = wire[from][key];
        if (!said) continue;
        const prompt = chatDialects[from].decodeRequest({ ...plain[from], ...said }, { model: "asked" });
        if (!isRead(prompt, key)) unread.push(`${key}: ${JSON.stringify(prompt)}`);
      }
      expect(unread).toEqual([]);
    });
  }
});

/** The values that stand at a path, through lists and through the variants of a union. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  const [head, ...rest] = path;
  if (head === undefined) return value === undefined ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one) => valuesAt(one, path));
  if (!isObject(value)) return [];
  const inner = [value.content].flatMap((content) => (Array.isArray(content) ? valuesAt(content, path) : []));
  if (value.type === head) return [...valuesAt(value, rest), ...inner];
  return [...valuesAt(value[head], rest), ...inner];
}

/** A scalar is read by its value, a structure as far as it is there. */
function isRead(prompt: ChatPrompt, key: Key): boolean {
  const path = key.replace(/^prompt\./, "").split(".");
  const isBlock = key in samples && /^(text|refusal|reasoning|image|audio|file|tool_call|tool_result|opaque)/.test(key);
  const from = (one: Partial<ChatPrompt>): unknown[] =>
    valuesAt(isBlock ? one.messages : one, path.length === 1 && isBlock ? path : path);
  const [expected] = from(samples[key].prompt);
  const read = from(prompt);
  return typeof expected === "object" ? read.length > 0 : read.includes(expected);
}
