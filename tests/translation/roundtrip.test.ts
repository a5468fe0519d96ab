/** Content is kept between dialects: properties over generated conversations and answers. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chargeOf } from "../../src/shared/charge";
import { resolvePrice } from "../../src/shared/pricing";
import type { AnswerEvent, ChatAnswer, DialectKey, Usage, WarningCode } from "../../src/server/protocol/chat-events";
import { dialectKeys } from "../../src/server/protocol/chat-events";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { upstreamDialects } from "../../src/server/protocol/dialects/vendor-dialects";
import { StreamTranslator } from "../../src/server/protocol/translate";
import { answers, essence, essenceOf, prompts } from "./conversations";
import { collect } from "./collect";
import { context, eventsOf } from "./streams";

const address = { model: "m", stream: true };
const quiet = (): void => undefined;

/** Fails on the first warning. */
const loud = (code: WarningCode, detail: string): void => {
  throw new Error(`warned: ${code} ${detail}`);
};

/** OpenAI demands a name of every file and so writes one where there is none; Google's bytes have no name. */
const loudButForNames = (code: WarningCode, detail: string): void => {
  if (detail !== "file.name") loud(code, detail);
};

const pairs = dialectKeys.flatMap((from) => dialectKeys.map((to): [DialectKey, DialectKey] => [from, to]));

describe("requests", () => {
  for (const key of dialectKeys) {
    test(`${key}: a parsed and written request parses to the same again, without a warning`, () => {
      const dialect = chatDialects[key];
      fc.assert(
        fc.property(prompts, (prompt) => {
          const wire = dialect.encodeRequest(prompt, loud);
          const read = dialect.decodeRequest(wire, address);
          expect(essenceOf(read)).toEqual(essenceOf(prompt));
          expect(dialect.decodeRequest(dialect.encodeRequest(read, loud), address)).toEqual(read);
        }),
        { numRuns: 150 },
      );
    });
  }

  for (const [from, to] of pairs) {
    test(`${from} to ${to} keeps everything that both can express, without a warning`, () => {
      fc.assert(
        fc.property(prompts, (prompt) => {
          const read = chatDialects[from].decodeRequest(chatDialects[from].encodeRequest(prompt, loud), address);
          const again = chatDialects[to].decodeRequest(chatDialects[to].encodeRequest(read, loudButForNames), address);
          expect(essenceOf(again)).toEqual(essenceOf(prompt));
        }),
        { numRuns: 60 },
      );
    });
  }
});

/** Freezes it deeply: writing to it throws. */
function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const member of Object.values(Object.freeze(value))) frozen(member);
  return value;
}

test("a request is left as it was, whichever dialect reads it and writes it: another channel may be asked the same", () => {
  fc.assert(
    fc.property(
      prompts,
      fc.constantFrom(...dialectKeys),
      fc.constantFrom(...Object.values(upstreamDialects)),
      (prompt, from, to) => {
        const wire = frozen(JSON.parse(JSON.stringify(chatDialects[from].encodeRequest(prompt, quiet))));
        expect(() =>
          to.encodeRequest({ ...chatDialects[from].decodeRequest(wire, address), model: "upstream" }, quiet),
        ).not.toThrow(TypeError);
      },
    ),
    { numRuns: 600 },
  );
});

describe("plain answers", () => {
  for (const [from, to] of pairs) {
    test(`${from} to ${to} keeps blocks, finish and usage`, () => {
      fc.assert(
        fc.property(answers, (answer) => {
          const wire = chatDialects[from].encodeAnswer(answer, context, quiet);
          const read = chatDialects[from].decodeAnswer(wire, "req-1");
          if (!read) throw new Error("not read");
          const again = chatDialects[to].decodeAnswer(chatDialects[to].encodeAnswer(read, context, quiet), "req-1");
          expect(essence(again?.choices[0]?.content ?? [])).toEqual(essence(answer.choices[0]?.content ?? []));
          expect(again?.choices[0]?.finish?.unified).toBe(answer.choices[0]?.finish?.unified);
          // A response of the Responses API always names its tier.
          const { served: _, ...usage } = again?.usage ?? {};
          expect(usage).toEqual(answer.usage ?? {});
        }),
        { numRuns: 60 },
      );
    });
  }
});

/** The events of an answer in small chunks. */
function eventsFor(answer: ChatAnswer): AnswerEvent[] {
  const events: AnswerEvent[] = [{ type: "message_start", id: answer.id, model: answer.model }];
  for (const [block, content] of (answer.choices[0]?.content ?? []).entries()) {
    if (content.type === "text" || content.type === "reasoning")
      events.push({ type: "block_start", choice: 0, block, start: { kind: content.type } });
    else if (content.type === "tool_call")
      events.push({
        type: "block_start",
        choice: 0,
        block,
        start: { kind: "tool_call", id: content.id, name: content.name },
      });
    const words = content.type === "tool_call" ? content.input : "text" in content ? content.text : "";
    for (const piece of words.match(/[^]{1,5}/gu) ?? [])
      events.push({ type: "block_delta", choice: 0, block, text: piece });
    events.push({ type: "block_end", choice: 0, block });
  }
  const finish = answer.choices[0]?.finish;
  if (finish) events.push({ type: "finish", choice: 0, finish });
  if (answer.usage) events.push({ type: "usage", usage: answer.usage });
  events.push({ type: "done" });
  return events;
}

/** A stream's bytes in a dialect. */
function written(key: DialectKey, events: readonly AnswerEvent[]): string {
  const encoder = chatDialects[key].streamEncoder(context, quiet);
  const frames: { data: string; event?: string }[] = [];
  for (const event of events) encoder.encode(event, frames);
  encoder.close(frames);
  return frames.map(({ data, event }) => `${event ? `event: ${event}\n` : ""}data: ${data}\n\n`).join("");
}

describe("streams", () => {
  for (const [from, to] of pairs) {
    test(`${from} to ${to} keeps blocks, finish and usage, and costs the same`, () => {
      const tables = {
        ModelPrice: {},
        ModelRatio: { m: 1.25 },
        CompletionRatio: { m: 4 },
        CacheRatio: { m: 0.1 },
        CreateCacheRatio: { m: 1.25 },
        ImageRatio: {},
        ImageCompletionRatio: {},
        AudioRatio: {},
        AudioCompletionRatio: {},
        GroupRatio: {},
        GroupGroupRatio: {},
        CreateCache1hRatio: {},
        LongContextRatio: {},
        PriceRules: {},
        "tool_price_setting.prices": {},
        QuotaPerUnit: 500_000,
        SelfUseModeEnabled: false,
      };
      const price = resolvePrice("m", "default", "default", tables);
      if (price.unpriced) throw new Error("no price");
      fc.assert(
        fc.property(answers, (answer) => {
          const native = Buffer.from(written(from, eventsFor(answer)));
          const translator = new StreamTranslator(from, to, context);
          const bytes = Buffer.concat([translator.feed(native), translator.end(), translator.close()]);
          const read = collect(eventsOf(to, bytes));
          expect(essence(read.content)).toEqual(essence(answer.choices[0]?.content ?? []));
          expect(read.finish?.unified).toBe(answer.choices[0]?.finish?.unified);
          const shown = (usage: Usage | undefined): number => chargeOf(price, usage ?? {}).quota;
          expect(shown(translator.usage)).toBe(shown(answer.usage));
          expect(shown(read.usage)).toBe(shown(answer.usage));
        }),
        { numRuns: 60 },
      );
    });
  }
});
