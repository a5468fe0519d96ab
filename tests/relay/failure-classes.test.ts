/**
 * What follows from each class of failure (src/shared/failures.ts): which calls are tried again and when, which wait,
 * which are refused at once, and what colours a channel. A thousand calls with default settings.
 */
import { describe, expect, test } from "bun:test";
import { defaultText } from "../../src/shared/options";
import { createRouting } from "../../src/server/relay/routing/router";
import { atOnce, type Bench, chatBody, frames, makeBench, makeChannel, VirtualTime } from "./kit";

const chat = "/v1/chat/completions";
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
const answered = (model = "m"): Response =>
  Response.json({
    id: "x",
    object: "chat.completion",
    model,
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
    usage,
  });
const streamed = (): Response =>
  new Response([frames.role, frames.text("hi"), frames.finish, frames.usage(10, 20), frames.done].join(""), {
    headers: { "content-type": "text/event-stream" },
  });
const refused = (status: number, error: object = {}, headers: Record<string, string> = {}): Response =>
  Response.json({ error: { message: "no", type: "", code: null, ...error } }, { status, headers });
const never = (signal: AbortSignal | null | undefined): Promise<Response> =>
  new Promise((_, reject) =>
    signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
  );

type Answer = (asked: {
  n: number;
  host: string;
  signal: AbortSignal | null | undefined;
}) => Response | Promise<Response>;

/** A relay in virtual time with RetryTimes as new installations have it; waits have no random part. */
function stage(answer: Answer, hosts = ["one"]) {
  const time = new VirtualTime();
  /** Host and millisecond of each call of an upstream. */
  const asked: [host: string, at: number][] = [];
  const began = time.now();
  const bench = makeBench(
    hosts.map((host, i) => makeChannel(i + 1, `http://${host}.test`, { priority: -i })),
    {
      now: time.now,
      timers: time.timers,
      random: () => 0,
      reachable: async () => true,
      fetch: async (url, init) => {
        const host = new URL(url).host.replace(".test", "");
        asked.push([host, time.now() - began]);
        return answer({ n: asked.length, host, signal: init.signal });
      },
    },
  );
  bench.options.retryTimes = Number(defaultText("RetryTimes"));
  /** Sends a call and advances time until it is answered. */
  const send = async (body: object = chatBody("m"), init?: RequestInit): Promise<Response> => {
    let done = false;
    const answer = bench.send(chat, body, init).finally(() => (done = true));
    await time.settle();
    for (let turn = 0; !done && turn < 400; turn++) await time.advance(250);
    return answer;
  };
  return { time, bench, asked, send };
}

const rowOf = (bench: Bench): { attempts: { failure: string; start_ms: number; not_retried?: string }[] } =>
  JSON.parse((bench.ledger.settlements.at(-1)?.log ?? bench.failures.at(-1))?.other ?? "{}").admin_info;

describe("a transient failure", () => {
  test("of a lone channel is tried again after 0.5 s, 1 s and 2 s, and its row shows when", async () => {
    const { bench, asked, send } = stage(({ n }) => (n < 4 ? refused(500) : answered()));
    expect((await send()).status).toBe(200);
    expect(asked.map(([, at]) => at)).toEqual([0, 500, 1500, 3500]);
    expect(rowOf(bench).attempts.map(({ start_ms }) => start_ms)).toEqual([0, 500, 1500, 3500]);
    expect([bench.ledger.settlements.length, bench.ledger.holdRequests.length]).toEqual([1, 1]);
  });

  test("is told after RetryTimes retries, as the upstream's", async () => {
    const { asked, send } = stage(() => refused(503));
    expect((await send()).status).toBe(503);
    expect(asked).toHaveLength(4);
  });

  test("is not tried again where the call may have been accepted and is expensive, and the row says so", async () => {
    const { bench, asked, send } = stage(() => refused(500));
    bench.options.repeatBelowUnits = 0;
    expect((await send()).status).toBe(500);
    expect([asked.length, rowOf(bench).attempts[0]?.not_retried]).toEqual([1, "may_be_accepted"]);
  });

  test("is not tried again when the wait would end after the call's time, nor when the caller leaves during it", async () => {
    const late = stage(() => refused(503, {}, { "retry-after": "90" }));
    expect((await late.send()).status).toBe(503);
    expect(late.asked).toHaveLength(1);
    const { bench, asked, time } = stage(() => refused(500));
    const leaving = new AbortController();
    const answer = bench.send(chat, chatBody("m"), { signal: leaving.signal });
    await time.settle();
    leaving.abort();
    await answer;
    expect([asked.length, bench.ledger.holds.size]).toEqual([1, 0]);
  });

  test("goes to the other channels first, and round again when all have failed", async () => {
    const { asked, send } = stage(({ n }) => (n < 3 ? refused(500) : answered()), ["one", "two"]);
    expect((await send()).status).toBe(200);
    expect(asked).toEqual([
      ["one", 0],
      ["two", 0],
      ["one", 500],
    ]);
  });

  test("that another channel has shown to be the channel's own puts it behind for 5 s; one that all share does not", async () => {
    const { asked, send, time } = stage(({ host }) => (host === "one" ? refused(500) : answered()), ["one", "two"]);
    await send();
    await send();
    expect(asked.map(([host]) => host)).toEqual(["one", "two", "two"]);
    await time.advance(5_000);
    await send();
    expect(asked.map(([host]) => host).slice(3)).toEqual(["one", "two"]);
    const poison = stage(() => refused(500), ["one", "two"]);
    poison.bench.options.retryTimes = 1;
    await poison.send();
    await poison.send();
    expect(poison.asked.map(([host]) => host)).toEqual(["one", "two", "one", "two"]);
  });

  test("cools and nothing more: when all cool, the one that is free the soonest is asked, whatever its priority", async () => {
    const { bench, asked, send, time } = stage(() => refused(503), ["one", "two"]);
    bench.options.retryTimes = 0;
    await send();
    await time.advance(1_000);
    await send();
    await time.advance(1_000);
    await send();
    expect(asked.map(([host]) => host)).toEqual(["one", "two", "one"]);
  });
});

describe("a wait that the upstream named", () => {
  const wait = (s: number): Response => refused(429, {}, { "retry-after": String(s) });

  test("is waited for, by the call that met it and by those that come later, and nothing is asked meanwhile", async () => {
    const { bench, asked, send, time } = stage(({ n }) => (n === 1 ? wait(7) : answered()));
    const first = send();
    await time.settle();
    const second = bench.send(chat, chatBody("m"));
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
    expect(asked.map(([, at]) => at)).toEqual([0, 7_000, 7_000]);
  });

  test("that is longer than the call's time is told: 503 with Retry-After, and the upstream is not asked", async () => {
    const { bench, asked, send } = stage(() => wait(300));
    expect((await send()).status).toBe(429);
    const answer = await send();
    expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("x-should-retry")]).toEqual([
      503,
      "300",
      null,
    ]);
    expect([asked.length, bench.failures.at(-1)?.code]).toEqual([1, "failure.waiting"]);
  });

  test("does not hold a call that another channel can serve", async () => {
    const { asked, send } = stage(({ host }) => (host === "one" ? wait(7) : answered()), ["one", "two"]);
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    expect(asked).toEqual([
      ["one", 0],
      ["two", 0],
      ["two", 0],
    ]);
  });
});

describe("a dead account", () => {
  test("gets one probe at a time after its pause: the others are told at once when to come again", async () => {
    let letGo: (answer: Response) => void = () => undefined;
    const { bench, asked, send, time } = stage(({ n }) =>
      n === 1 ? refused(401) : new Promise<Response>((resolve) => (letGo = resolve)),
    );
    expect((await send()).status).toBe(502);
    await time.advance(60_000);
    const probe = bench.send(chat, chatBody("m"));
    await time.settle();
    const other = await send();
    expect([other.status, other.headers.get("retry-after"), other.headers.get("x-should-retry")]).toEqual([
      503,
      "1",
      "false",
    ]);
    letGo(answered());
    expect([(await probe).status, asked.length]).toEqual([200, 2]);
  });

  test("is one that can pay for no call, not one that cannot pay for this call's limit", async () => {
    const words = "This request requires more credits, or fewer max_tokens. You requested up to 9 tokens, but can only";
    const short = stage(({ n }) => (n === 1 ? refused(402, { message: `${words} afford 5` }) : answered()));
    expect([(await short.send()).status, (await short.send()).status]).toEqual([400, 200]);
    const empty = stage(({ n }) => (n === 1 ? refused(402, { message: `${words} afford 0` }) : answered()));
    expect([(await empty.send()).status, (await empty.send()).status]).toEqual([502, 503]);
  });
});

describe("a request that is over the rate of an account by itself", () => {
  const words = "Request too large for m in organization org-a on tokens per min (TPM): Limit 30000, Requested 36278.";
  const over = refused.bind(undefined, 429, { message: words, type: "tokens", code: "rate_limit_exceeded" });

  test("is served by another one, and calls that fit go on to the first", async () => {
    const { asked, send } = stage(({ n }) => (n === 1 ? over() : answered()), ["one", "two"]);
    expect([(await send()).status, (await send()).status]).toEqual([200, 200]);
    expect(asked.map(([host]) => host)).toEqual(["one", "two", "one"]);
  });

  test("is told at once where there is no other, whatever wait is named with it", async () => {
    const { asked, send } = stage(({ n }) => (n === 1 ? over({ "retry-after": "30" }) : answered()));
    expect([(await send()).status, (await send()).status]).toEqual([413, 200]);
    expect(asked.map(([, at]) => at)).toEqual([0, 0]);
  });
});

describe("a caller", () => {
  test("who leaves before the first event, or asks for the impossible, does not colour the channel", async () => {
    const { bench, asked, time } = stage(({ n, signal }) => (n === 1 ? never(signal) : refused(400)), ["one", "two"]);
    const leaving = new AbortController();
    const answer = bench.send(chat, chatBody("m", { stream: true }), { signal: leaving.signal });
    await time.settle();
    leaving.abort();
    await time.advance(10_000);
    await answer;
    for (let n = 0; n < 2; n++) expect((await bench.send(chat, chatBody("m"))).status).toBe(400);
    expect(asked.map(([host]) => host)).toEqual(["one", "one", "one"]);
  });
});

describe("the limit of the first event", () => {
  const silentFor = async (body: object): Promise<number> => {
    const { bench, time } = stage(({ signal }) => never(signal));
    Object.assign(bench.options, {
      firstByteTimeoutMs: 20_000,
      totalTimeoutMs: 100_000,
      pingAfterMs: 0,
      retryTimes: 0,
    });
    let ended = -1;
    const began = time.now();
    const answer = bench.send(chat, body).finally(() => (ended = time.now() - began));
    await time.settle();
    await time.advance(200_000);
    await answer;
    return ended;
  };

  test("holds for streams, not for whole answers and not for models that think in silence", async () => {
    expect(await silentFor(chatBody("gpt-4o", { stream: true }))).toBe(20_000);
    expect(await silentFor(chatBody("gpt-4o"))).toBe(100_000);
    for (const model of ["o3", "openai/gpt-5.2-pro", "grok-4"])
      expect([model, await silentFor(chatBody(model, { stream: true }))]).toEqual([model, 100_000]);
  });
});

describe("a stream whose upstream says nothing", () => {
  /** Answers of the first channel never come; returns the status and when which channel was asked, without pings. */
  async function ask(hosts: string[], change: (bench: Bench) => void = () => undefined) {
    const staged = stage(({ host, signal }) => (host === "one" ? never(signal) : streamed()), hosts);
    staged.bench.options.pingAfterMs = 0;
    change(staged.bench);
    const sent = staged.bench.send(chat, chatBody("gpt-4o", { stream: true }));
    await staged.time.settle();
    await staged.time.advance(200_000);
    return { status: (await sent).status, asked: staged.asked, bench: staged.bench };
  }

  test("is given up with the default settings in time for another channel to answer", async () => {
    expect(await ask(["one", "two"])).toMatchObject({
      status: 200,
      asked: [
        ["one", 0],
        ["two", 30_000],
      ],
    });
  });

  test("has its whole time where no other channel could answer, or a second answer might cost too much", async () => {
    const lone = await ask(["one"]);
    const dear = await ask(["one", "two"], ({ options }) => (options.repeatBelowUnits = 0));
    for (const { status, asked, bench } of [lone, dear])
      expect([status, asked, rowOf(bench).attempts[0]]).toMatchObject([504, [["one", 0]], { duration_ms: 120_000 }]);
  });

  test("has the time that its channel's own setting says, whatever other channels there are", async () => {
    const { asked } = await ask(["one", "two"], ({ channels: [first] }) => {
      if (first) Object.assign(first.setting, { first_byte_timeout: 50 });
    });
    expect(asked.map(([, at]) => at)).toEqual([0, 50_000]);
  });
});

describe("a thousand calls with default settings", () => {
  const hello = [{ role: "user", content: "hello" }];
  const DOORS: readonly ((stream: boolean) => [path: string, body: object])[] = [
    (stream) => [chat, { model: "m", messages: hello, stream }],
    (stream) => ["/v1/responses", { model: "m", input: "hello", stream }],
    (stream) => ["/v1/messages", { model: "m", max_tokens: 10, messages: hello, stream }],
    (stream) => [
      `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
    ],
  ];

  /** Calls in turn through every door, streamed and not, ten at a time; returns how many were answered whole. */
  async function thousand(bench: Bench): Promise<number> {
    let good = 0;
    for (let from = 0; from < 1000; from += 10)
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const [path, body] = DOORS[(from + i) % 4]?.((from + i) % 8 < 4) ?? [chat, {}];
          const answer = await bench.send(path, body);
          const text = await answer.text();
          if (answer.ok && text.includes("hi")) good++;
        }),
      );
    await bench.quiet();
    return good;
  }

  function relay(hosts: readonly string[], answer: (host: string, n: number) => Response) {
    let asked = 0;
    const channels = hosts.map((host, i) => makeChannel(i + 1, `http://${host}.test`));
    const bench = makeBench(channels, {
      timers: atOnce,
      reachable: async () => true,
      fetch: async (url, init) => {
        const found = answer(new URL(url).host, ++asked);
        if (!found.ok) return found;
        return String(Buffer.from(init.body as Uint8Array)).includes('"stream":true') ? streamed() : found;
      },
    });
    bench.ledger.balance = 1e9;
    bench.options.retryTimes = Number(defaultText("RetryTimes"));
    return { bench, asked: () => asked };
  }

  /** Every call has one charge, at what the upstream counted; nothing stays held. */
  const exact = ({ ledger }: Bench): void => {
    expect(ledger.settlements).toHaveLength(1000);
    for (const { quota } of ledger.settlements) expect(quota).toBe(10 + 20 * 2);
    expect([ledger.charged, ledger.balance, ledger.holds.size]).toEqual([50_000, 1e9 - 50_000, 0]);
    for (const ends of ledger.ends.values()) expect(ends).toEqual(["settle"]);
  };

  test("beside a flaky channel and a dead one all are answered, in four dialects, streamed and not, and bills are exact", async () => {
    let flaky = 0;
    const { bench } = relay(["flaky", "dead", "good"], (host) => {
      if (host.startsWith("dead")) throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
      return host.startsWith("flaky") && ++flaky % 3 === 0 ? refused(500) : answered();
    });
    expect(await thousand(bench)).toBe(1000);
    expect(flaky).toBeGreaterThan(0);
    exact(bench);
  });

  test("at a lone channel that fails one in a hundred all are answered with at most 1.1 upstream calls each", async () => {
    const { bench, asked } = relay(["lone"], (_, n) => (n % 100 === 0 ? refused(500) : answered()));
    expect(await thousand(bench)).toBe(1000);
    expect(asked()).toBeGreaterThan(1000);
    expect(asked()).toBeLessThanOrEqual(1100);
    exact(bench);
  });
});

test("a channel that answered a test works again for every model, and no other does", () => {
  const bench = makeBench([makeChannel(1, "http://up.test")]);
  const { cooldown } = createRouting(bench.controlPlane.pool, () => 0);
  for (const id of [1, 11, "1.4"]) for (const model of ["a", "b"]) cooldown.add(id, model, 60_000);
  cooldown.works(1);
  expect([1, 11, "1.4"].map((id) => ["a", "b"].map((model) => cooldown.standing(id, model)))).toEqual([
    ["ready", "ready"],
    [60_000, 60_000],
    [60_000, 60_000],
  ]);
});
