import { describe, expect, test } from "bun:test";
import {
  chatBody,
  frames,
  makeBench,
  makeChannel,
  pieces,
  scripted,
  type ScriptedStream,
} from "../../../../tests/relay/kit";

const path = "/v1/chat/completions";
const away = (): Promise<never> => Promise.reject(new Error("away"));

describe("extending a hold while a stream runs", () => {
  async function running(body: Record<string, unknown> = {}, balance = 1_000_000) {
    let opened: ScriptedStream | undefined;
    const made = makeBench([makeChannel(1, "http://up.test")], {
      fetch: scripted((stream) => void (opened = stream)),
      reachable: async () => true,
    });
    made.ledger.balance = balance;
    const sent = made.send(path, chatBody("gpt-4o", { stream: true, ...body }));
    while (!opened) await Bun.sleep(1);
    const stream = opened;
    stream.write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    /** So many bytes more. */
    const say = async (bytes: number): Promise<void> => {
      stream.write(frames.text("x".repeat(bytes)));
      await answer.next();
      await Bun.sleep(0);
    };
    return { made, stream, answer, say };
  }

  test("is requested at half of the hold, not before, with the content generated so far as a sweep's charge", async () => {
    const { made, say } = await running();
    // 500 tokens of 3 bytes are held.
    await say(746);
    expect(made.ledger.extends).toEqual([]);
    await say(3);
    expect(made.ledger.extends).toMatchObject([{ amount: 2_000, granted: true }]);
    const [held] = made.ledger.extends;
    // 250 tokens out at 2 units, and the prompt.
    expect(held?.running).toBeWithin(500, 600);
  });

  test("is requested again after a failure, and the stream goes on", async () => {
    const { made, say } = await running();
    const { extend } = made.ledger;
    made.ledger.extend = away;
    await say(900);
    made.ledger.extend = extend.bind(made.ledger);
    await say(300);
    expect(made.ledger.extends).toMatchObject([{ amount: 4_000, granted: true }]);
  });

  test("is not requested twice at once", async () => {
    const { made, say } = await running();
    const gate = Promise.withResolvers<boolean>();
    let asked = 0;
    made.ledger.extend = () => (asked++, gate.promise);
    await say(900);
    await say(300);
    expect(asked).toBe(1);
    gate.resolve(true);
  });

  test("is no more than the caller allows", async () => {
    const { made, say } = await running({ max_tokens: 700 });
    await say(900);
    expect(made.ledger.extends).toMatchObject([{ amount: 400, granted: true }]);
    await say(900);
    await say(900);
    expect(made.ledger.extends).toHaveLength(1);
  });

  test("is one token where the caller allows one more than is held", async () => {
    const { made, say } = await running({ max_tokens: 501 });
    await say(900);
    expect(made.ledger.extends).toMatchObject([{ amount: 2, granted: true }]);
  });

  test("leaves the hold as it is when refused: the stream ends with its last covered token, not before", async () => {
    const { made, stream, say } = await running();
    made.ledger.extend = async () => false;
    await say(899);
    expect(stream.aborted).toBe(false);
    // 1,497 bytes are 499 tokens of the 500 that are held.
    await say(597);
    expect(stream.aborted).toBe(false);
    await say(1);
    expect([stream.aborted, made.ledger.settlements[0]?.log.end_reason]).toEqual([true, "out_of_quota"]);
  });

  test("is never requested for a price per call, however long the response is", async () => {
    const { made, say } = await running({ model: "percall" });
    const before = made.ledger.extends.length;
    await say(9_000);
    expect(made.ledger.extends).toHaveLength(before);
  });
});
