/**
 * Refusals that trying again cannot change: no balance, no such model, no such endpoint, a dead upstream account. They
 * are told so that clients stop: by status, by the words of each dialect, and by x-should-retry.
 */
import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { atOnce, type Bench, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

type Wire = Record<string, any>;
const hello = [{ role: "user" as const, content: "hello" }];
const DOORS = {
  chat: (model: string): [string, Wire] => ["/v1/chat/completions", { model, messages: hello }],
  responses: (model: string): [string, Wire] => ["/v1/responses", { model, input: "hello" }],
  anthropic: (model: string): [string, Wire] => ["/v1/messages", { model, max_tokens: 10, messages: hello }],
  gemini: (model: string): [string, Wire] => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: "user", parts: [{ text: "hello" }] }] },
  ],
} as const;
type Door = keyof typeof DOORS;
const doors = Object.keys(DOORS) as Door[];

const answered = {
  id: "x",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
};
const refusing =
  (status: number, error: Wire = {}) =>
  (): Response =>
    Response.json({ error: { message: "no", type: "", code: null, ...error } }, { status });

/** A relay with one channel; `asked` counts the calls that reach the upstream. */
function bench(answer: () => Response = () => Response.json(answered), now?: () => number) {
  let asked = 0;
  const made = makeBench([makeChannel(1, "http://up.test")], {
    fetch: async () => {
      asked++;
      return answer();
    },
    reachable: async () => true,
    ...(now && { now }),
  });
  return { bench: made, asked: () => asked };
}

interface Read {
  status: number;
  retry: string | null;
  wait: string | null;
  error: Wire;
  body: Wire;
}

async function read(made: Bench, door: Door, model = "m", headers: Record<string, string> = {}): Promise<Read> {
  const answer = await made.send(...DOORS[door](model), { headers });
  const body = (await answer.json()) as Wire;
  return {
    status: answer.status,
    retry: answer.headers.get("x-should-retry"),
    wait: answer.headers.get("retry-after"),
    error: body.error ?? {},
    body,
  };
}

describe("a caller without balance", () => {
  const poor = () => {
    const made = bench().bench;
    made.ledger.balance = 0;
    return made;
  };

  test.each(doors)(
    "reads 429 insufficient_quota in the words of %s, and that trying again is of no use",
    async (door) => {
      const { status, retry, wait, error } = await read(poor(), door);
      expect([status, retry, wait]).toEqual([429, "false", null]);
      if (door === "anthropic") {
        expect(error.type).toBe("billing_error");
        expect(error.message).toContain("credit balance is too low");
      } else if (door === "gemini") {
        expect(error).toMatchObject({ code: 429, status: "RESOURCE_EXHAUSTED" });
        expect(error.details).toEqual([
          {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            violations: [{ quotaId: expect.stringContaining("PerDay") }],
          },
        ]);
      } else expect(error).toMatchObject({ type: "insufficient_quota", code: "insufficient_quota" });
    },
  );

  test("is refused with the family's 403 and code where the operator wants that, and is not to try again either", async () => {
    const made = poor();
    made.options.quotaRefusedWith403 = true;
    const { status, retry, error } = await read(made, "chat");
    expect([status, retry, error.type, error.code]).toEqual([
      403,
      "false",
      "permission_error",
      "insufficient_user_quota",
    ]);
  });

  test("leaves a row that says what was used up", async () => {
    const made = poor();
    await read(made, "chat");
    expect(made.failures[0]).toMatchObject({ end_reason: "refused", code: "insufficient_user_quota" });
  });
});

describe("a model that no channel of the group has", () => {
  test.each(doors)("is 404 in the words of %s", async (door) => {
    const { status, error } = await read(bench().bench, door, "nobody");
    expect(status).toBe(404);
    expect(error).toMatchObject(
      door === "anthropic"
        ? { type: "not_found_error" }
        : door === "gemini"
          ? { code: 404, status: "NOT_FOUND" }
          : { type: "invalid_request_error", code: "model_not_found", param: "model" },
    );
  });

  test("is 503 where its channels are only switched off", async () => {
    const { status, error } = await read(bench().bench, "chat", "nobody-off");
    expect([status, error.code]).toEqual([503, "model_unavailable"]);
  });
});

describe("a channel whose account is dead", () => {
  const dead = [
    ["its key", 401, {}],
    ["its balance", 402, {}],
    ["its quota", 429, { code: "insufficient_quota", type: "insufficient_quota" }],
  ] as const;

  test.each(dead)(
    "%s: it is not asked again before its pause ends, and callers read when that is",
    async (_, status, error) => {
      let now = 1_000_000;
      const { bench: made, asked } = bench(refusing(status, error), () => now);
      const first = await read(made, "chat");
      expect([first.status, first.retry]).toEqual([502, "false"]);
      now += 1500;
      for (const door of doors) {
        const { status: told, retry, wait, error: words } = await read(made, door);
        expect([told, retry, wait]).toEqual([503, "false", status === 401 ? "59" : "299"]);
        // Gemini CLI knows neither: a 503 is final to it by this reason alone.
        const reason = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "MODEL_CAPACITY_EXHAUSTED" };
        expect(words.details).toEqual(door === "gemini" ? [reason] : undefined);
        expect(words.message).toContain(status === 401 ? "59" : "299");
      }
      expect(asked()).toBe(1);
      expect(made.failures.at(-1)).toMatchObject({ end_reason: "refused", code: "failure.paused" });
      expect(made.ledger.holds.size).toBe(0);
      now += 300_000;
      expect((await read(made, "chat")).status).toBe(502);
      expect(asked()).toBe(2);
    },
  );

  test("is asked again at once when the channel is changed, and by a caller who names it", async () => {
    let answer = refusing(401);
    const { bench: made, asked } = bench(() => answer());
    await read(made, "chat");
    expect([(await read(made, "chat")).status, asked()]).toEqual([503, 1]);
    made.caller.channel_id = 1;
    expect([(await read(made, "chat")).status, asked()]).toEqual([502, 2]);
    made.caller.channel_id = undefined;
    answer = () => Response.json(answered);
    made.channels.splice(0, 1, { ...makeChannel(1, "http://up.test"), key: "another" });
    expect([(await read(made, "chat")).status, asked()]).toEqual([200, 3]);
  });

  test("is not tried after another channel fails", async () => {
    const asked: string[] = [];
    const made = makeBench([makeChannel(1, "http://one.test", { priority: 1 }), makeChannel(2, "http://two.test")], {
      fetch: async (url) => {
        asked.push(new URL(url).host);
        return asked.length === 1 ? refusing(401)() : refusing(500)();
      },
      reachable: async () => true,
      timers: atOnce,
    });
    made.options.retryTimes = 3;
    await read(made, "chat");
    await read(made, "chat");
    expect(asked).toEqual(["one.test", ...Array<string>(7).fill("two.test")]);
  });

  test("an overloaded one is still tried when there is no other", async () => {
    const { bench: made, asked } = bench(refusing(503));
    await read(made, "chat");
    expect([(await read(made, "chat")).retry, asked()]).toEqual([null, 2]);
  });
});

describe("what a vendor says of a limit", () => {
  test.each(doors)("is passed on without what must not leave: %s", async (door) => {
    const message = "Rate limit reached for m in organization org-A1b2C3d4E5f6 on tokens per min: Limit 30000";
    const { status, error, retry } = await read(
      bench(refusing(429, { message, code: "rate_limit_exceeded" })).bench,
      door,
    );
    expect([status, retry]).toEqual([429, null]);
    expect(error.message).toContain("Rate limit reached for m in organization [key] on tokens per min: Limit 30000");
  });

  test.each(doors)("is final where Google's limit ends with the day, and its name stays: %s", async (door) => {
    const violations = [
      {
        quotaMetric: "secret.internal/x",
        quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        quotaValue: "20",
      },
    ];
    const body = {
      error: {
        code: 429,
        message: "You exceeded your current quota.",
        status: "RESOURCE_EXHAUSTED",
        details: [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations }],
      },
    };
    const { channelType } = await import("../../src/shared/channel-types");
    const type = channelType(24) ?? expect.unreachable();
    const made = makeBench([makeChannel(1, "http://up.test", { type })], {
      fetch: async () => Response.json(body, { status: 429 }),
      reachable: async () => true,
    });
    const { status, retry, error } = await read(made, door);
    expect([status, retry]).toEqual([429, "false"]);
    expect(error.message).toContain("You exceeded your current quota.");
    if (door !== "gemini") return;
    expect(error.details).toEqual([
      {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier", quotaValue: "20" }],
      },
    ]);
  });
});

test("errors are English unless the caller prefers Chinese", async () => {
  const made = bench().bench;
  const said = async (language: string) => {
    const request = new Request("http://weir.test/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify(DOORS.chat("nobody")[1]),
      headers: { authorization: `Bearer ${TEST_KEY}`, ...(language !== "" && { "accept-language": language }) },
    });
    const { error } = (await (await made.relay.handle(request, "127.0.0.1", "req-1")).json()) as Wire;
    return /[一-鿿]/.test(error.message) ? "zh" : "en";
  };
  expect(await Promise.all(["", "*", "en-US,en", "fr", "zh-CN,zh;q=0.9,en;q=0.8"].map(said))).toEqual([
    "en",
    "en",
    "en",
    "en",
    "zh",
  ]);
});

test("an error in Anthropic's words names the call beside the error", async () => {
  const { body } = await read(bench().bench, "anthropic", "nobody");
  expect(body).toMatchObject({ type: "error", request_id: expect.stringMatching(/^req-\d+$/) });
});

describe("the official SDKs ask once", () => {
  const cases: readonly (readonly [
    string,
    string,
    (made: ReturnType<typeof bench>) => Promise<void> | void,
    number,
  ])[] = [
    ["of a caller without balance", "m", ({ bench: made }) => void (made.ledger.balance = 0), 429],
    ["of a model that no channel has", "nobody", () => undefined, 404],
    [
      "of a channel whose account failed a moment ago",
      "m",
      async ({ bench: made }) => void (await read(made, "chat")),
      503,
    ],
  ];

  test.each(cases)("%s", async (_, model, prepare, status) => {
    const made = bench(refusing(401));
    await prepare(made);
    using server = serve(made.bench);
    let requests = 0;
    const counting = (async (url: string | URL | Request, init?: RequestInit) => {
      requests++;
      return fetch(url, init);
    }) as typeof fetch;
    const openai = new OpenAI({ apiKey: TEST_KEY, baseURL: `${server.url}/v1`, fetch: counting });
    const anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL: server.url, fetch: counting });
    const google = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: server.url, fetch: counting } });
    const calls = [
      [OpenAI.APIError, () => openai.chat.completions.create({ model, messages: hello })],
      [OpenAI.APIError, () => openai.responses.create({ model, input: "hello" })],
      [Anthropic.APIError, () => anthropic.messages.create({ model, max_tokens: 10, messages: hello })],
      [ApiError, () => google.models.generateContent({ model, contents: "hello" })],
    ] as const;
    for (const [kind, call] of calls) {
      requests = 0;
      const error = await call().then(
        () => expect.unreachable("it was answered"),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(kind);
      expect([(error as { status: number }).status, requests]).toEqual([status, 1]);
    }
  });
});

describe("what vendors say beside an error", () => {
  const failed_generation = '<function=clock>{"zone": "Europe/Berlin", "id": "0123456789abcdef0123456789abcdef"}';

  test("Groq's failed_generation reaches OpenAI's callers as the model wrote it", async () => {
    const { bench: made } = bench(refusing(400, { message: "bad call", code: "tool_use_failed", failed_generation }));
    const { status, error } = await read(made, "chat");
    expect([status, error.code, error.failed_generation]).toEqual([400, "tool_use_failed", failed_generation]);
  });

  test("OpenRouter's metadata reaches them without keys and addresses, and no other member does", async () => {
    const metadata = { provider_name: "Acme", raw: "refused sk-abcdef123456 at 10.1.2.3", secret: "internal" };
    const { bench: made } = bench(refusing(400, { message: "Provider returned error", code: 400, metadata }));
    const { error } = await read(made, "chat");
    expect(error.metadata).toEqual({ provider_name: "Acme", raw: "refused [key] at [address]" });
  });

  test("the channel's own key is taken out of them", async () => {
    const { bench: made } = bench(
      refusing(400, { message: "no", failed_generation: "say upstream-key-1", metadata: { raw: "upstream-key-1" } }),
    );
    expect(JSON.stringify((await read(made, "chat")).error)).not.toContain("upstream-key-1");
  });

  test("an error inside a 200 answer is not told with status 200", async () => {
    const error = { message: "no", type: "insufficient_quota", code: "insufficient_quota" };
    const { bench: made } = bench(() => Response.json({ error }));
    const told = await read(made, "chat");
    expect(told.error.message).not.toContain("200");
  });
});
