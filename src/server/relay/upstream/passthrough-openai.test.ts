import { describe, expect, test } from "bun:test";
import { frames } from "../../../../tests/relay/kit";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { OpenAiPassthrough } from "./passthrough-openai";

/** A frame of text that contains usage as well. */
const counted = (text: string, output: number): string =>
  `data: ${JSON.stringify({
    choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
    usage: { prompt_tokens: 3, completion_tokens: output, total_tokens: 3 + output },
  })}\n\n`;

function meter(showUsage = false) {
  const made = new OpenAiPassthrough(openaiChat, showUsage);
  return { made, feed: (text: string): string => made.feed(Buffer.from(text)).toString() };
}

const failed = {
  status: 502,
  type: "upstream_error",
  code: "upstream_error",
  message: "m",
  param: null,
};

describe("forwarded bytes", () => {
  test("text and finish pass unchanged; a frame with usage alone passes only to callers who requested it", () => {
    const text = frames.role + frames.text("a") + frames.finish + frames.usage(3, 4);
    expect(meter().feed(text)).toBe(frames.role + frames.text("a") + frames.finish);
    expect(meter(true).feed(text)).toBe(text);
  });

  test("a hidden frame between others leaves both unchanged", () => {
    const { feed } = meter();
    expect(feed(frames.text("a") + frames.usage(3, 4) + frames.text("b") + frames.usage(3, 5) + frames.finish)).toBe(
      frames.text("a") + frames.text("b") + frames.finish,
    );
  });

  test("a read of hidden frames alone passes nothing", () => {
    for (const hidden of [frames.usage(3, 4), frames.done, frames.usage(3, 4) + frames.done])
      expect([hidden, meter().feed(hidden)]).toEqual([hidden, ""]);
  });

  test("the frames before and after a hidden one pass whole, and comments pass where frames are read", () => {
    const { feed } = meter();
    expect(feed(frames.text("a") + frames.usage(3, 4) + frames.text("b"))).toBe(frames.text("a") + frames.text("b"));
    const comment = ": still here\n\n";
    expect(feed(frames.finish + comment + frames.text("c"))).toBe(frames.finish + comment + frames.text("c"));
  });

  test("usage beside content does not count as a frame with usage alone", () => {
    expect(meter().feed(counted("a", 1))).toBe(counted("a", 1));
  });

  test("content behind the terminal frame is neither passed on nor counted, where the upstream names no usage", () => {
    const alone = meter();
    alone.feed(frames.text("a") + frames.done);
    const { made, feed } = meter();
    expect(feed(frames.text("a") + frames.done + frames.text("never sent"))).toBe(frames.text("a"));
    expect(made.tally.contentBytes).toBe(alone.made.tally.contentBytes);
  });

  test("the last event is held back, and is sent last", () => {
    const { made, feed } = meter();
    expect(feed(frames.text("a") + frames.done)).toBe(frames.text("a"));
    expect([made.done, made.over]).toEqual([true, true]);
    expect(Buffer.from(made.close()).toString()).toBe(frames.done);
  });

  test("frames after the last event in the same read are neither passed on nor counted", () => {
    const { made, feed } = meter(true);
    const after = frames.text("later") + frames.usage(900, 900) + frames.finish;
    expect(feed(frames.text("a") + frames.usage(3, 4) + frames.done + after)).toBe(
      frames.text("a") + frames.usage(3, 4),
    );
    expect(made.usage).toMatchObject({ input: 3, output: 4 });
    expect(made.finished).toBe(false);
  });

  test("nothing is sent for an end that the upstream did not send", () => {
    expect(meter().made.end()).toHaveLength(0);
  });
});

describe("errors", () => {
  const error = 'data: {"error":{"message":"no","type":"t","code":"c"}}\n\n';
  const spent =
    'data: {"id":"x","choices":[{"index":0,"delta":{}}],"error":{"message":"no","code":"c"},"usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n';
  const said = (made: OpenAiPassthrough): string => Buffer.from(made.fail(failed)).toString();

  test("an error frame ends the response: it is not passed on, and nothing after it counts", () => {
    const { made, feed } = meter();
    expect(feed(frames.text("a") + error + frames.usage(9, 9))).toBe(frames.text("a"));
    expect(made.error).toMatchObject({ message: "no", code: "c" });
    expect([made.over, made.done, made.usage]).toEqual([true, false, undefined]);
    expect(said(made)).toStartWith('data: {"error"');
  });

  test("the usage in the error frame is charged, and reported to callers who requested usage", () => {
    const shown = meter(true);
    shown.feed(frames.text("a") + spent);
    expect(shown.made.usage).toMatchObject({ input: 3, output: 4 });
    const [first = "", second = ""] = said(shown.made).split("\n\n");
    expect(JSON.parse(first.slice(6))).toEqual({
      id: "x",
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4 },
    });
    expect(second).toStartWith('data: {"error"');
    const hidden = meter();
    hidden.feed(frames.text("a") + spent);
    expect(said(hidden.made)).toStartWith('data: {"error"');
  });

  test("a frame that is not JSON ends the response where it could matter", () => {
    const { made, feed } = meter();
    expect(feed(`${frames.text("a")}data: "finish_reason":"\n\n${frames.text("b")}`)).toBe(frames.text("a"));
    expect([made.malformed, made.over]).toEqual([true, true]);
  });
});

describe("measured content", () => {
  test("content is measured while no usage is known", () => {
    const { made, feed } = meter();
    feed(frames.text("abc"));
    feed(frames.text("de") + frames.text("fgh"));
    expect([made.tally.contentBytes, made.tally.countedBytes]).toEqual([8, 0]);
  });

  test("content is measured although the vendor reports usage in every chunk: its stream is cut at the quota too", () => {
    const { made, feed } = meter();
    for (let chunk = 1; chunk <= 5; chunk++) {
      feed(counted("x".repeat(100), chunk));
      expect([made.tally.contentBytes, made.tally.countedBytes]).toEqual([100 * chunk, 100 * chunk]);
    }
    expect(made.usage).toMatchObject({ output: 5 });
  });

  test("content before and after a count in one read is distinguished", () => {
    const { made, feed } = meter();
    feed(frames.text("abc") + counted("de", 2) + frames.text("fghi"));
    expect([made.tally.contentBytes, made.tally.countedBytes]).toEqual([9, 5]);
    expect(made.usage).toMatchObject({ output: 2 });
  });

  test("a count without output in the same read does not replace one that has it", () => {
    const { made, feed } = meter();
    feed(counted("abc", 2) + frames.text("de") + frames.usage(5, 0));
    expect(made.usage).toMatchObject({ input: 5, output: 2 });
    expect([made.tally.contentBytes, made.tally.countedBytes]).toEqual([5, 3]);
  });

  test("the last read of a complete response with a plausible count is not measured", () => {
    const { made, feed } = meter();
    feed(frames.text("abc") + frames.finish + frames.usage(3, 4) + frames.done);
    expect(made.usage).toMatchObject({ input: 3, output: 4 });
    expect(made.tally.contentBytes).toBe(0);
  });

  test("a complete response without a count, or with a count of no output, is measured", () => {
    for (const usage of ["", frames.usage(3, 0)]) {
      const { made, feed } = meter();
      feed(frames.text("abc"));
      feed(frames.text("de") + frames.finish + usage + frames.done);
      expect([usage, made.tally.contentBytes]).toEqual([usage, 5]);
    }
  });

  test("where the usage came in an earlier read than the last event, the rest is not measured any more", () => {
    const { made, feed } = meter();
    feed(frames.text("abc") + frames.usage(3, 4));
    feed(frames.text("de") + frames.done);
    expect(made.tally.contentBytes).toBe(3);
  });
});
