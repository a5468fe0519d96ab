/**
 * For any behaviour of upstream, caller and balance: every hold ends once, by settle or release, and no unit is lost.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { chatBody, frames, makeBench, makeChannel, pieces, scripted, type ScriptedStream, VirtualTime } from "./kit";

type Step =
  | { kind: "text"; size: number }
  | { kind: "role" | "half" | "finish" | "usage" | "done" | "error" | "garbage" | "end" | "cut" | "read" | "leave" }
  | { kind: "wait"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("text" as const), size: fc.integer({ min: 0, max: 1500 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "role",
        "half",
        "finish",
        "usage",
        "done",
        "error",
        "garbage",
        "end",
        "cut",
        "read",
        "read",
        "leave",
      ),
    }) as fc.Arbitrary<Step>,
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 200_000 }) }) },
);

interface History {
  answers: ("stream" | "hang" | "500" | "429" | "400" | "html" | "refused")[];
  steps: Step[];
  balance: number;
  retries: number;
  maxTokens: number | undefined;
  price: "ratio" | "call";
}

const history: fc.Arbitrary<History> = fc.record({
  answers: fc.array(fc.constantFrom("stream", "stream", "stream", "hang", "500", "429", "400", "html", "refused"), {
    minLength: 1,
    maxLength: 3,
  }) as fc.Arbitrary<History["answers"]>,
  steps: fc.array(step, { maxLength: 25 }),
  balance: fc.constantFrom(50, 1_150, 3_000, 100_000),
  retries: fc.integer({ min: 0, max: 2 }),
  maxTokens: fc.option(fc.integer({ min: 0, max: 2_000 }), { nil: undefined }),
  price: fc.constantFrom("ratio", "ratio", "call"),
});

const json = (status: number, body: unknown): Response => Response.json(body, { status });

async function play({ answers, steps, balance, retries, maxTokens, price }: History): Promise<void> {
  const time = new VirtualTime();
  const streams: ScriptedStream[] = [];
  let asked = 0;
  const inner = scripted((stream) => {
    const answer = answers[Math.min(asked++, answers.length - 1)];
    if (answer === "hang") return "hang";
    if (answer === "stream") return void streams.push(stream);
    if (answer === "html") return new Response("<html>", { headers: { "content-type": "text/html" } });
    if (answer === "refused") throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
    return json(Number(answer), { error: { message: "no", type: "t" } });
  });
  const channels = [1, 2, 3].map((id) => makeChannel(id, "http://up.test"));
  const bench = makeBench(channels, { now: time.now, timers: time.timers, fetch: inner, reachable: async () => true });
  bench.ledger.balance = balance;
  Object.assign(bench.options, { retryTimes: retries, pingAfterMs: 50_000, totalTimeoutMs: 500_000 });
  const abort = new AbortController();
  const sent = bench.send(
    "/v1/chat/completions",
    chatBody(price === "call" ? "percall" : "gpt-4o", {
      stream: true,
      ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    }),
    { signal: abort.signal },
  );
  let answer: ReturnType<typeof pieces> | undefined;
  void sent.then((response) => (answer = pieces(response)));
  const reads: Promise<unknown>[] = [];
  const write = (text: string): void => {
    try {
      streams.at(-1)?.write(text);
    } catch {
      // The body had ended.
    }
  };
  const close = (how: "end" | "cut"): void => {
    try {
      streams.at(-1)?.[how]();
    } catch {
      // The body had ended.
    }
  };
  for (const next of steps) {
    await time.settle();
    switch (next.kind) {
      case "text":
        write(frames.text("x".repeat(next.size)));
        break;
      case "role":
        write(frames.role);
        break;
      case "half":
        write('data: {"choices"');
        break;
      case "finish":
        write(frames.finish);
        break;
      case "usage":
        write(frames.usage(10, 700));
        break;
      case "done":
        write(frames.done);
        break;
      case "error":
        write('data: {"error":{"message":"no"}}\n\n');
        break;
      case "garbage":
        write('data: "finish_reason":"\n\n');
        break;
      case "end":
      case "cut":
        close(next.kind);
        break;
      case "read":
        if (answer) reads.push(answer.next().catch(() => undefined));
        break;
      case "leave":
        abort.abort();
        await answer?.leave().catch(() => undefined);
        break;
      case "wait":
        await time.advance(next.ms);
        break;
    }
  }
  // In the end every upstream goes silent and the caller keeps reading.
  await time.settle();
  const rest = answer?.rest().catch(() => undefined);
  await time.advance(600_000);
  const response = await sent;
  await rest;
  if (!answer && response.body) await response.body.cancel();
  await time.advance(10_000);

  const { ledger, relay, failures } = bench;
  const held = ledger.holdRequests.length === 1 && failures.every((row) => row.end_reason !== "refused");
  expect([...ledger.ends.values()].map((ends) => ends.length)).toEqual(held ? [1] : []);
  expect(ledger.holds.size).toBe(0);
  expect(ledger.balance + ledger.charged).toBe(balance);
  // One row for each call: a charge or a failure, with one end reason.
  expect(ledger.settlements.length + failures.length).toBe(1);
  expect(relay.stats).toMatchObject({ open_calls: 0, open_streams: 0, late_settles: 0, missing_holds: 0 });
  expect(time.waiting).toBe(0);
  for (const stream of streams.slice(0, -1)) expect(stream.aborted).toBe(true);
}

test("every hold ends by exactly one settle or release, in 1,500 random histories", async () => {
  await fc.assert(fc.asyncProperty(history, play), { numRuns: 1_500, timeout: 2_000 });
}, 60_000);
