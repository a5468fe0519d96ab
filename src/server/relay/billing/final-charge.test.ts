import { describe, expect, test } from "bun:test";
import { makeChannel, simplePrice } from "../../../../tests/relay/kit";
import { channelType } from "../../../shared/channel-types";
import type { EndReason } from "../../../shared/log";
import type { Bytes } from "../../lib/sse";
import type { Asked, Attempted } from "../call/call";
import { Translation } from "../call/translation";
import { RequestContent } from "../call/request-content";
import { chargeAtEnd, type Ending } from "./final-charge";
import { tokensOfText } from "./token-estimate";
import type { PoolChannel } from "../../contracts/channel";

/** 240 bytes of letters: 48 tokens. */
const body = Buffer.from("abcdefghij ".repeat(22).slice(0, 240));
const INPUT = tokensOfText(body);

interface Made extends Partial<Pick<Attempted, "price" | "channel">>, Partial<Pick<Asked, "input_bound">> {
  request?: Partial<Asked["request"]>;
  operation?: string;
  body?: Bytes;
}

/** The members of an attempt that the charge reads; 1 unit per input token, 2 per output token. */
const attemptOf = ({
  price = simplePrice,
  channel = makeChannel(1, "http://x"),
  request,
  operation = "chat",
  body: said = body,
  input_bound = body.length,
}: Made = {}): Attempted => {
  const asked = {
    content: new RequestContent(said),
    input_bound,
    request: { model: "m", ...request },
    operation: { key: operation },
  };
  return {
    call: { asked },
    translation: new Translation(),
    channel,
    price,
    terms: request?.terms,
  } as unknown as Attempted;
};

const ending = (more: Partial<Ending> = {}): Ending => ({
  end_reason: "complete",
  usage: undefined,
  content_bytes: 0,
  ...more,
});
const charge = (made: Made, more: Partial<Ending>) => chargeAtEnd(attemptOf(made), ending(more));
const ofType = (id: number, more: Partial<PoolChannel> = {}): PoolChannel => {
  const type = channelType(id) ?? expect.unreachable(`no type ${id}`);
  return makeChannel(1, "http://x", { type, ...more });
};

describe("the charge of a broken response", () => {
  const usage = { input: 3, output: 4 };
  const waived = (setting: PoolChannel["setting"], end_reason: EndReason): boolean => {
    const found = charge({ channel: makeChannel(1, "http://x", { setting }) }, { end_reason, usage });
    expect(found.charge.quota).toBe(found.waived ? 0 : 11);
    expect(found.charge.lines.length).toBe(found.waived ? 0 : 2);
    return found.waived;
  };

  test("is zero where the upstream broke it and its channel says so, and full otherwise", () => {
    for (const reason of ["upstream_error", "upstream_cut", "idle_timeout"] as const)
      expect([
        reason,
        waived({ bill_broken: "free" }, reason),
        waived({}, reason),
        waived({ bill_left: "free" }, reason),
      ]).toEqual([reason, true, false, false]);
  });

  test("is zero where the caller left and its channel says so", () => {
    expect([waived({ bill_left: "free" }, "caller_left"), waived({ bill_broken: "free" }, "caller_left")]).toEqual([
      true,
      false,
    ]);
  });

  test("is full where nothing broke", () => {
    for (const reason of ["complete", "out_of_quota", "gateway_restart"] as const)
      expect([reason, waived({ bill_broken: "free", bill_left: "free" }, reason)]).toEqual([reason, false]);
  });
});

describe("a response without usage", () => {
  test("is charged by an estimate of the request and the content received", () => {
    expect(charge({}, { content_bytes: 40 })).toMatchObject({
      usage: { input: INPUT, output: 10 },
      estimated: true,
      doubts: [],
    });
    expect(charge({}, {}).usage).toEqual({ input: INPUT, output: 0 });
  });

  test("counts embedded files by their allowance, not by their bytes", () => {
    expect(charge({ input_bound: body.length / 2 }, {}).usage.input).toBe(Math.ceil(INPUT / 2));
    expect(charge({ input_bound: 0 }, {}).usage.input).toBe(0);
  });

  test("counts a stored conversation's part of the bound in tokens", () => {
    expect(charge({ input_bound: body.length + 100 }, {}).usage.input).toBe(INPUT + 100);
  });

  test("is estimated by its bound when the body is gone", () => {
    expect(charge({ body: Buffer.alloc(0), input_bound: 400 }, {}).usage.input).toBe(100);
    expect(charge({ body: Buffer.from("a"), input_bound: 401 }, {}).usage.input).toBe(401);
  });

  test("is charged by its terms, exact or not", () => {
    const terms = { usage: { input: 7, output: 9 }, exact: true };
    expect(charge({ request: { terms } }, { content_bytes: 400 })).toMatchObject({
      usage: terms.usage,
      estimated: false,
      charge: { quota: 25 },
    });
    expect(charge({ request: { terms: { ...terms, exact: false } } }, {})).toMatchObject({
      usage: terms.usage,
      estimated: true,
    });
  });

  test("multiplies a price per call by its terms", () => {
    const terms = { usage: {}, exact: true, times: { calls: 3 } };
    const price = { ...simplePrice, by: "call" as const, call: simplePrice.unit * 5n };
    expect(charge({ price, request: { terms } }, {}).charge.quota).toBe(15);
  });
});

describe("impossible usage", () => {
  test("is replaced side by side with the estimate and marked as doubted", () => {
    expect(charge({}, { usage: { input: Number.NaN, output: 5 } })).toMatchObject({
      usage: { input: INPUT, output: 5 },
      estimated: true,
      doubts: [{ side: "input", rule: "impossible", reported: null, charged: INPUT }],
    });
    expect(charge({}, { usage: { input: 5, output: 0 }, content_bytes: 400 })).toMatchObject({
      usage: { input: 5, output: 100 },
      doubts: [{ side: "output", rule: "zero", reported: 0, charged: 100 }],
    });
  });

  test("of a picture or a sound is replaced by the terms, or by their doubted count where that is higher", () => {
    const terms = { usage: { output: 70 }, exact: false };
    const replaced = (more: object, content_bytes: number): unknown =>
      charge({ request: { terms: { ...terms, ...more } } }, { usage: { input: 5, output: Number.NaN }, content_bytes })
        .usage.output;
    expect([replaced({}, 0), replaced({ doubted: { output: 90 } }, 0)]).toEqual([70, 90]);
    // The same with text in the response: the terms count only pictures and sound.
    expect([replaced({}, 400), replaced({ doubted: { output: 90 } }, 400)]).toEqual([70, 70]);
    expect(replaced({ usage: {} }, 400)).toBe(100);
    expect(replaced({ usage: {} }, 1)).toBe(1);
  });

  test("without output is accepted from a vendor that counts one sum or works as an agent, unless input is missing too", () => {
    const output = (channel: PoolChannel, input = 5): unknown =>
      charge({ channel }, { usage: { input, output: 0 }, content_bytes: 400 }).usage.output;
    expect([output(ofType(18)), output(ofType(37)), output(ofType(1))]).toEqual([0, 0, 100]);
    expect(output(ofType(18), 0)).toBe(100);
  });

  test("is accepted where the operator says so", () => {
    const found = charge(
      { channel: ofType(1, { setting: { trust_usage: true } }) },
      { usage: { input: 5, output: 0 }, content_bytes: 400 },
    );
    expect(found).toMatchObject({ usage: { input: 5, output: 0 }, estimated: false, doubts: [] });
  });
});

describe("output beyond the possible maximum", () => {
  const LOTS = 5_000_000;
  const believed = (made: Made): boolean => {
    const { usage, doubts } = charge(made, { usage: { input: 5, output: LOTS }, content_bytes: 400 });
    expect(doubts.length).toBe(usage.output === LOTS ? 0 : 1);
    return usage.output === LOTS;
  };

  test("is charged up to that maximum", () => {
    expect(charge({}, { usage: { input: 5, output: LOTS }, content_bytes: 400 }).usage.output).toBe(200_000);
    expect(
      charge({ request: { max_output: 100_000 } }, { usage: { input: 5, output: LOTS }, content_bytes: 400 }).usage
        .output,
    ).toBe(400_000);
  });

  test("is accepted where the vendor may have worked out of sight", () => {
    expect(believed({})).toBe(false);
    expect(believed({ request: { hidden_turns: true } })).toBe(true);
    expect(believed({ channel: ofType(37) })).toBe(true);
    expect(believed({ request: { model: "gpt-4o-search-preview" } })).toBe(true);
    expect(believed({ channel: ofType(1, { override: () => ({ enable_search: true }) }) })).toBe(true);
    expect(believed({ channel: ofType(1, { override: () => ({ temperature: 1 }) }) })).toBe(false);
  });

  test("is still checked, and charged, where a channel's rules fail on an empty body", () => {
    const override = (): never => {
      throw new Error("no messages");
    };
    expect(believed({ channel: ofType(1, { override }) })).toBe(false);
  });
});

describe("a stream that ended early", () => {
  const early = (more: Partial<Ending>) =>
    charge(
      {},
      { end_reason: "upstream_cut", content_bytes: 400, counted_bytes: 100, usage: { input: 5, output: 20 }, ...more },
    );

  test("is charged for the content after the last count as well", () => {
    expect(early({})).toMatchObject({ usage: { input: 5, output: 20 + 75 }, estimated: true });
    expect(early({ counted_bytes: 399 })).toMatchObject({ usage: { input: 5, output: 21 }, estimated: true });
    expect(early({ usage: { input: 5, reasoning: 9 } })).toMatchObject({
      usage: { input: 5, reasoning: 9, output: 75 },
      estimated: true,
    });
  });

  test("is charged as counted where the count covers everything", () => {
    expect(early({ counted_bytes: 400 })).toMatchObject({ usage: { input: 5, output: 20 }, estimated: false });
    expect(early({ counted_bytes: undefined as never })).toMatchObject({ usage: { output: 20 }, estimated: false });
  });

  test("is charged for all of its content where the only count came before any content, complete or not", () => {
    for (const end_reason of ["upstream_cut", "complete"] as const)
      expect(early({ end_reason, counted_bytes: 0, usage: { input: 5, output: 1 } })).toMatchObject({
        usage: { input: 5, output: 100 },
        estimated: true,
      });
  });

  test("is charged as counted when complete, whatever came after the count", () => {
    expect(early({ end_reason: "complete" })).toMatchObject({ usage: { input: 5, output: 20 }, estimated: false });
  });

  test("leaves a zero count at the end of a complete response to the usage check", () => {
    expect(early({ end_reason: "complete", counted_bytes: 0, usage: { input: 5, output: 0 } })).toMatchObject({
      usage: { input: 5, output: 100 },
      doubts: [{ rule: "zero" }],
    });
  });
});

describe("a model that always searches", () => {
  const tools = (made: Made, usage: Ending["usage"]): unknown =>
    charge({ ...made, request: { model: "gpt-4o-search-preview" } }, { usage }).usage.server_tools;

  test("is charged one search, which its usage does not report", () => {
    expect(tools({}, { input: 1, output: 1 })).toEqual({ web_search_preview: 1 });
    expect(charge({}, { usage: { input: 1, output: 1 } }).usage).not.toHaveProperty("server_tools");
  });

  test("is charged the searches it reports, and none for an operation other than chat", () => {
    expect(tools({}, { input: 1, output: 1, server_tools: { web_search: 3 } })).toEqual({ web_search: 3 });
    expect(tools({ operation: "embeddings" }, { input: 1, output: 1 })).toBeUndefined();
  });
});
