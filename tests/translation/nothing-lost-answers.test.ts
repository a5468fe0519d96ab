/**
 * Whatever an answer says reaches the caller by its value, whole and streamed, or a warning names it: over every member
 * of the neutral answer and every caller's dialect. The samples' types follow the neutral types.
 */
import { describe, expect, test } from "bun:test";
import {
  type AnswerEvent,
  type Block,
  type ChatAnswer,
  type Choice,
  type Citation,
  type DialectKey,
  dialectKeys,
  type FinishReason,
  type Usage,
} from "../../src/server/protocol/chat-events";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import type { OptionalKeys } from "../../src/server/protocol/dialects/shared/support";
import { Warnings } from "../../src/server/protocol/dialects/shared/warnings";
import type { OutFrame } from "../../src/server/protocol/dialects/translation";
import { arrives, leavesOf, type Note, supportOf } from "./nothing-lost-kit";
import { base64, type Leaf, type VariantKeys } from "./nothing-lost-samples";
import { context } from "./streams";

type AnswerBlock = Exclude<Block, { readonly type: "tool_result" }>;

type Key =
  | "choices.several"
  | `choices.${OptionalKeys<Omit<Choice, "finish">>}`
  | `choices.content.${VariantKeys<AnswerBlock>}`
  | `choices.finish.${OptionalKeys<FinishReason>}`
  | `choices.citation.${OptionalKeys<Citation>}`
  | "choices.starts.audio.id"
  | `usage.${OptionalKeys<Omit<Usage, "served">>}`
  | "extra";

interface Sample {
  readonly content?: readonly AnswerBlock[];
  readonly answer?: Partial<ChatAnswer>;
  readonly choice?: Partial<Choice>;
  readonly leaves: readonly Leaf[];
  readonly named: RegExp;
}

const cache = { ttl: "5m" } as const;
const marks = { leaves: [{ at: /cache_control/ }], named: /cache|^image|^audio|^file|strange/ };
const extra = { leaves: ["EXTRA"], named: /own_word|^image|^audio|^file|strange/ };
const text: AnswerBlock = { type: "text", text: "WORDS" };
const refusal = { type: "refusal", text: "REFUSED" } as const;
const reasoning = { type: "reasoning", text: "THOUGHTS" } as const;
const signature = { from: "anthropic", kind: "signature", data: "U0lHTkVE" } as const;
const image = { type: "image", source: { kind: "data", media_type: "image/png", data: base64 } } as const;
const audio = { type: "audio", source: { kind: "data", media_type: "audio/wav", data: base64 } } as const;
const file = { type: "file", source: { kind: "data", media_type: "application/pdf", data: base64 } } as const;
const call = { type: "tool_call", id: "call_1", name: "FUNCTION", input: '{"city":"ARGUMENT"}' } as const;

/** Of a vendor that no caller speaks as well: what a dialect leaves of it is its own doing. */
const cited = (citation: Partial<Citation>): Pick<Sample, "content"> => ({
  content: [
    { ...text, citations: [{ url: "https://cited.example/1", ...citation, from: "cohere", raw: { document: "D" } }] },
  ],
});
const used = (usage: Usage): Pick<Sample, "answer" | "leaves"> => ({ answer: { usage }, leaves: [] });

/** A sample of every member, where `from` is whose own words it has. */
function samplesFrom(from: DialectKey): Readonly<Record<Key, Sample>> {
  const foreign = { [from]: { own_word: "EXTRA" } };
  const opaque = { type: "opaque", from, value: { type: "strange_block", strange: "OPAQUE" } } as const;
  return {
    "choices.several": { answer: {}, leaves: ["SECOND"], named: /choices/ },
    "choices.extra": { choice: { extra: foreign }, ...extra },
    "choices.content.text": { content: [text], leaves: ["WORDS"], named: /text/ },
    "choices.content.text.citations": { ...cited({}), leaves: ["https://cited.example/1"], named: /citations/ },
    "choices.content.text.cache": { content: [{ ...text, cache }], ...marks },
    "choices.content.text.extra": { content: [{ ...text, extra: foreign }], ...extra },
    "choices.content.refusal": { content: [refusal], leaves: ["REFUSED"], named: /refusal/ },
    "choices.content.refusal.cache": { content: [{ ...refusal, cache }], ...marks },
    "choices.content.refusal.extra": { content: [{ ...refusal, extra: foreign }], ...extra },
    "choices.content.reasoning": { content: [reasoning, text], leaves: ["THOUGHTS"], named: /reasoning/ },
    "choices.content.reasoning.reasoningSignature": {
      content: [{ ...reasoning, reasoningSignature: signature }, text],
      leaves: [
        { at: /signature$|reasoning_details\.data$|encrypted_content$|thoughtSignature$/, is: /^(w1\.|dzEu|U0lHTkVE)/ },
      ],
      named: /reasoning/,
    },
    "choices.content.reasoning.cache": { content: [{ ...reasoning, cache }], ...marks },
    "choices.content.reasoning.extra": { content: [{ ...reasoning, extra: foreign }], ...extra },
    "choices.content.image": { content: [image], leaves: [base64], named: /^image/ },
    "choices.content.image.detail": {
      content: [{ ...image, detail: "high" }],
      leaves: [{ at: /detail$/ }],
      named: /^image/,
    },
    "choices.content.image.cache": { content: [{ ...image, cache }], ...marks },
    "choices.content.image.extra": { content: [{ ...image, extra: foreign }], ...extra },
    "choices.content.audio": { content: [audio], leaves: [base64], named: /^audio$/ },
    "choices.content.audio.transcript": {
      content: [{ ...audio, transcript: "TRANSCRIPT" }],
      leaves: ["TRANSCRIPT"],
      named: /^audio/,
    },
    "choices.content.audio.cache": { content: [{ ...audio, cache }], ...marks },
    "choices.content.audio.extra": { content: [{ ...audio, extra: foreign }], ...extra },
    "choices.content.file": { content: [file], leaves: [base64], named: /^file/ },
    "choices.content.file.name": { content: [{ ...file, name: "NAME.pdf" }], leaves: ["NAME"], named: /^file/ },
    "choices.content.file.cache": { content: [{ ...file, cache }], ...marks },
    "choices.content.file.extra": { content: [{ ...file, extra: foreign }], ...extra },
    "choices.content.tool_call": { content: [call], leaves: ["ARGUMENT"], named: /tool_call/ },
    "choices.content.tool_call.custom": {
      content: [{ ...call, input: "ARGUMENT", custom: true }],
      leaves: ["ARGUMENT"],
      named: /tool/,
    },
    "choices.content.tool_call.cache": { content: [{ ...call, cache }], ...marks },
    "choices.content.tool_call.extra": { content: [{ ...call, extra: foreign }], ...extra },
    "choices.content.opaque": { content: [opaque], leaves: ["OPAQUE"], named: /strange_block/ },
    "choices.content.opaque.cache": { content: [{ ...opaque, cache }], ...marks },
    "choices.content.opaque.extra": { content: [{ ...opaque, extra: foreign }], ...extra },
    "choices.finish.stop": {
      choice: { finish: { unified: "stop", raw: "stop_sequence", stop: "STOPWORD" } },
      leaves: ["STOPWORD"],
      named: /finish\.stop/,
    },
    "choices.citation.url": { ...cited({}), leaves: ["https://cited.example/1"], named: /citations/ },
    "choices.citation.title": { ...cited({ title: "TITLE" }), leaves: ["TITLE"], named: /citations\.title/ },
    "choices.citation.cited_text": {
      ...cited({ cited_text: "CITED" }),
      leaves: ["CITED"],
      named: /citations\.cited_text/,
    },
    "choices.citation.start": { ...cited({ start: 77 }), leaves: [77], named: /citations\.start/ },
    "choices.citation.end": { ...cited({ end: 77 }), leaves: [77], named: /citations\.end/ },
    "choices.starts.audio.id": { content: [audio], leaves: ["audio_1"], named: /^audio/ },
    "usage.input": { ...used({ input: 77 }), named: /usage/ },
    "usage.cache_read": { ...used({ cache_read: 77 }), named: /usage/ },
    "usage.cache_write_5m": { ...used({ cache_write_5m: 77 }), named: /usage/ },
    "usage.cache_write_1h": { ...used({ cache_write_1h: 77 }), named: /usage/ },
    "usage.audio_in": { ...used({ audio_in: 77 }), named: /usage/ },
    "usage.image_in": { ...used({ image_in: 77 }), named: /usage/ },
    "usage.output": { ...used({ output: 77 }), named: /usage/ },
    "usage.reasoning": { ...used({ reasoning: 77 }), named: /usage/ },
    "usage.audio_out": { ...used({ audio_out: 77 }), named: /usage/ },
    "usage.image_out": { ...used({ image_out: 77 }), named: /usage/ },
    "usage.server_tools": { ...used({ server_tools: { web_search: 77 } }), named: /usage\.server_tools/ },
    extra: { answer: { extra: foreign }, ...extra },
  };
}

const samples: Readonly<Record<DialectKey, Readonly<Record<Key, Sample>>>> = {
  "openai-chat": samplesFrom("openai-chat"),
  "openai-responses": samplesFrom("openai-responses"),
  anthropic: samplesFrom("anthropic"),
  gemini: samplesFrom("gemini"),
};
const keys = Object.keys(samples.gemini) as Key[]; // the keys of the record
const base = { input: 1000, output: 500 };

function answerOf(key: Key, from: DialectKey, withUsage = true): ChatAnswer {
  const { content = [text], answer = {}, choice = {} } = samples[from][key];
  const first: Choice = { index: 0, content, finish: { unified: "stop", raw: "stop" }, ...choice };
  const second: Choice = {
    index: 1,
    content: [{ type: "text", text: "SECOND" }],
    finish: { unified: "stop", raw: "stop" },
  };
  const more = withUsage ? answer.usage : undefined;
  const usage = Object.fromEntries(
    Object.entries({ ...base, ...more }).map(([name, value]) => {
      const before = name === "input" || name === "output" ? base[name] : 0;
      return [name, typeof value === "number" && more && name in more ? before + value : value];
    }),
  );
  return { id: "a1", model: "m", choices: key === "choices.several" ? [first, second] : [first], ...answer, usage };
}

/** The events of a block that comes in pieces. */
function blockEvents(choice: number, block: number, of: Block): AnswerEvent[] {
  const at = { choice, block };
  const delta = (words: string): AnswerEvent[] => (words === "" ? [] : [{ type: "block_delta", ...at, text: words }]);
  const end: AnswerEvent = { type: "block_end", ...at };
  switch (of.type) {
    case "text":
    case "refusal":
    case "reasoning": {
      const citations = of.type === "text" ? (of.citations ?? []) : [];
      const signed =
        of.type === "reasoning" && of.reasoningSignature ? { reasoningSignature: of.reasoningSignature } : {};
      return [
        { type: "block_start", ...at, start: { kind: of.type } },
        ...delta(of.text),
        ...citations.map((citation): AnswerEvent => ({ type: "block_citation", ...at, citation })),
        { ...end, ...signed },
      ];
    }
    case "audio":
      return [
        { type: "block_start", ...at, start: { kind: "audio", media_type: "audio/wav", id: "audio_1" } },
        ...delta(of.transcript ?? ""),
        { type: "block_data", ...at, data: of.source.kind === "data" ? of.source.data : "" },
        end,
      ];
    case "tool_call": {
      const { id, name, custom } = of;
      return [
        { type: "block_start", ...at, start: { kind: "tool_call", id, name, ...(custom && { custom }) } },
        ...delta(of.input),
        end,
      ];
    }
    case "image":
    case "file":
    case "opaque":
      return [{ type: "block_start", ...at, start: { kind: "whole", block: of } }, end];
    case "tool_result":
      return [];
  }
}

function eventsOf({ id, model, choices, usage, extra: beside }: ChatAnswer): AnswerEvent[] {
  const said = (value: Choice["extra"], choice?: number): AnswerEvent[] =>
    dialectKeys.flatMap((from): AnswerEvent[] => {
      const own = value?.[from];
      return own ? [{ type: "extra", from, value: own, ...(choice !== undefined && { choice }) }] : [];
    });
  return [
    { type: "message_start", id, model },
    ...said(beside),
    { type: "ping" },
    ...choices.flatMap(({ index, content, finish, extra: own }): AnswerEvent[] => [
      ...content.flatMap((block, position) => blockEvents(index, position, block)),
      ...said(own, index),
      ...(finish ? [{ type: "finish", choice: index, finish } as const] : []),
    ]),
    ...(usage ? [{ type: "usage", usage } as const] : []),
    { type: "done" },
  ];
}

interface Told {
  readonly body: unknown;
  readonly warnings: readonly Note[];
}

function whole(to: DialectKey, answer: ChatAnswer): Told {
  const warnings = new Warnings();
  return { body: chatDialects[to].encodeAnswer(answer, context, warnings.warn), warnings: warnings.list };
}

function streamed(to: DialectKey, answer: ChatAnswer): Told {
  const warnings = new Warnings();
  const encoder = chatDialects[to].streamEncoder(context, warnings.warn);
  const frames: OutFrame[] = [];
  for (const event of eventsOf(answer)) encoder.encode(event, frames);
  encoder.close(frames);
  const body = frames.map(({ data }): unknown => (data === "[DONE]" ? {} : JSON.parse(data)));
  return { body, warnings: warnings.list };
}

/** Whether a number of the body, beside its total, grows by what was counted. */
function isCounted(to: DialectKey, key: Key, write: typeof whole): boolean {
  const numbers = (answer: ChatAnswer): Map<string, number> =>
    new Map(
      leavesOf(write(to, answer).body).flatMap(([path, value]) =>
        typeof value === "number" && !/total/i.test(path) ? [[path, value] as const] : [],
      ),
    );
  const before = numbers(answerOf(key, to, false));
  return [...numbers(answerOf(key, to))].some(([path, value]) => value - (before.get(path) ?? 0) === 77);
}

const isSaid = (to: DialectKey, key: Key, body: unknown, write: typeof whole): boolean =>
  key.startsWith("usage.") ? isCounted(to, key, write) : arrives(body, samples[to][key].leaves);

const isWarned = (warnings: readonly Note[], { named }: Sample): boolean =>
  warnings.some(({ code, detail }) => code.startsWith("dropped_") && named.test(detail));

/** A stream's blocks have no marks and no extra members. */
const isStreamed = (key: Key): boolean => !/^choices\.content\..*\.(cache|extra)$/.test(key);

/** What stands in a stream alone. */
const isStart = (key: Key): boolean => key.startsWith("choices.starts.");

/** A file of Google's has a name where it stands at an address alone. */
const conditional: Partial<Record<DialectKey, readonly Key[]>> = { gemini: ["choices.content.file.name"] };

for (const to of dialectKeys) {
  const table = chatDialects[to].answerSupport;
  describe(`a caller of ${to}`, () => {
    const arrived = new Set<Key>();

    for (const [way, write] of Object.entries({ whole, streamed })) {
      test(`is given everything of a ${way} answer, or a warning names it`, () => {
        const lost: string[] = [];
        for (const key of keys) {
          if (write === streamed ? !isStreamed(key) : isStart(key)) continue;
          for (const from of dialectKeys) {
            const { body, warnings } = write(to, answerOf(key, from));
            if (isSaid(to, key, body, write)) arrived.add(key);
            else if (!isWarned(warnings, samples[from][key]))
              lost.push(`${key} of ${from}: ${JSON.stringify(body)} ${JSON.stringify(warnings)}`);
          }
        }
        expect(lost).toEqual([]);
      });
    }

    test("is given everything that the table calls sent", () => {
      const claims = keys.filter((key) => supportOf(table, key) !== "unsupported" && !arrived.has(key));
      expect(claims).toEqual([...(conditional[to] ?? [])]);
    });

    test("is warned of everything that the table calls unsupported", () => {
      const silent = keys.filter((key) => {
        if (supportOf(table, key) !== "unsupported") return false;
        return !isWarned((isStart(key) ? streamed : whole)(to, answerOf(key, to)).warnings, samples[to][key]);
      });
      expect(silent).toEqual([]);
    });

    test("is told of an error that ends a stream by its message", () => {
      const frames: OutFrame[] = [];
      const error = { status: 502, type: "upstream_error", code: "upstream", message: "MESSAGE", param: null };
      chatDialects[to].streamEncoder(context, () => undefined).fail(error, frames);
      expect(frames.some(({ data }) => data.includes("MESSAGE"))).toBe(true);
    });
  });
}

/** Which sample streams an event of each type: a new type demands one. */
const eventSamples: Readonly<Record<Exclude<AnswerEvent["type"], "error">, Key>> = {
  message_start: "extra",
  block_start: "choices.content.text",
  block_delta: "choices.content.text",
  block_data: "choices.content.audio",
  block_citation: "choices.citation.url",
  block_end: "choices.content.text",
  finish: "choices.finish.stop",
  usage: "usage.input",
  extra: "extra",
  ping: "extra",
  done: "extra",
};

test("every type of event is streamed by a sample", () => {
  for (const [type, key] of Object.entries(eventSamples))
    expect(eventsOf(answerOf(key, "gemini")).map((event): string => event.type)).toContain(type);
});

test("what OpenAI's chunks say of the whole answer stands in each of them", () => {
  const events = eventsOf({
    ...answerOf("usage.input", "openai-chat"),
    extra: { "openai-chat": { service_tier: "flex" } },
  });
  const encoder = chatDialects["openai-chat"].streamEncoder(context, () => undefined);
  const frames: OutFrame[] = [];
  for (const event of events) encoder.encode(event, frames);
  expect(frames.length).toBeGreaterThan(2);
  for (const { data } of frames) expect(JSON.parse(data)).toMatchObject({ service_tier: "flex" });
});
