/**
 * Image edits at vendors with their own format: bill, retries, large files, the operator's rules. The wire format is
 * tested in tests/conformance/vendors. Format: ai.google.dev/gemini-api/docs/image-generation, November 2026.
 */
import { expect, test } from "bun:test";
import { vendorRules } from "../../src/server/features/option/vendor-rules";
import { channelType } from "../../src/shared/channel-types";
import { defaultValue, type OptionKey, type OptionValue } from "../../src/shared/options";
import { type Bench, makeBench, makeChannel } from "./kit";

const drawn = {
  candidates: [
    {
      content: { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }] },
      finishReason: "STOP",
    },
  ],
  usageMetadata: {
    promptTokenCount: 521,
    candidatesTokenCount: 1298,
    totalTokenCount: 1819,
    promptTokensDetails: [
      { modality: "TEXT", tokenCount: 5 },
      { modality: "IMAGE", tokenCount: 516 },
    ],
    candidatesTokensDetails: [{ modality: "IMAGE", tokenCount: 1290 }],
  },
};

interface Heard {
  host: string;
  body: { contents?: { parts: { inlineData?: { data: string } }[] }[]; safetySettings?: unknown };
}

/** A relay with channels of a type at hosts "a", "b", …, with the given answers. */
function stage(
  type: number,
  answers: readonly (() => Response)[],
  more: Parameters<typeof makeChannel>[2] = {},
): { bench: Bench; heard: Heard[] } {
  const heard: Heard[] = [];
  const hosts = ["a", "b"];
  const channels = answers.map((_, index) =>
    makeChannel(index + 1, `http://${hosts[index]}.test`, {
      type: channelType(type) ?? expect.unreachable(),
      priority: -index,
      ...more,
    }),
  );
  const bench = makeBench(channels, {
    async fetch(url, init) {
      const { hostname } = new URL(url);
      heard.push({ host: hostname, body: JSON.parse(String(init.body)) });
      return (answers[hosts.indexOf(hostname[0] ?? "")] ?? expect.unreachable())();
    },
  });
  bench.options.maxBodyBytes = 32 << 20;
  bench.options.retryTimes = 1;
  return { bench, heard };
}

function formOf(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}

async function edit(
  bench: Bench,
  body: FormData,
  path = "/v1/images/edits",
): Promise<{ status: number; json: { data?: unknown[]; error?: { code: string } } }> {
  const response = await bench.send(path, undefined, { method: "POST", body });
  const json = (await response.json()) as Awaited<ReturnType<typeof edit>>["json"];
  await bench.quiet();
  return { status: response.status, json };
}

const png = (bytes: BlobPart = "hi"): File => new File([bytes], "a.png", { type: "image/png" });
const model = "gemini-2.5-flash-image";

test("an edit costs the tokens that Gemini reports, images at the image price", async () => {
  const { bench } = stage(24, [() => Response.json(drawn)]);
  expect((await edit(bench, formOf({ model, prompt: "a hat", image: png() }))).status).toBe(200);
  // 521 in at 1 unit, 1298 out at 2: the test's price has none of its own for images.
  expect(bench.ledger.settlements).toMatchObject([
    { quota: 521 + 2 * 1298, log: { prompt_tokens: 521, completion_tokens: 1298 } },
  ]);
  const bill = JSON.parse(bench.ledger.settlements[0]?.log.other ?? "{}").bill as { kind: string; count: number }[];
  expect(bill.map(({ kind, count }) => [kind, count])).toEqual([
    ["input", 5],
    ["image_in", 516],
    ["output", 8],
    ["image_out", 1290],
  ]);
});

test("an image of Gemini without usage is billed as one image's tokens, and the row says that it is an estimate", async () => {
  const { bench } = stage(24, [() => Response.json({ candidates: drawn.candidates })]);
  const answer = await bench.send("/v1/images/generations", { model, prompt: "abcdef" });
  expect(answer.status).toBe(200);
  await bench.quiet();
  expect(bench.ledger.settlements).toMatchObject([{ quota: 3 + 2 * 1290 }]);
  expect(JSON.parse(bench.ledger.settlements[0]?.log.other ?? "{}")).toMatchObject({ estimated: true });
});

test("with a price per call an edit costs it for every requested image, like a generation", async () => {
  const message = {
    role: "assistant",
    content: [{ image: "https://x.test/1.png" }, { image: "https://x.test/2.png" }],
  };
  const mapped = { model_mapping: new Map([["percall-edit", "qwen-image-edit-plus"]]) };
  const { bench, heard } = stage(17, [() => Response.json({ output: { choices: [{ message }] } })], mapped);
  expect(
    (await edit(bench, formOf({ model: "percall-edit", prompt: "a hat", n: "2", image: png() }))).json.data,
  ).toHaveLength(2);
  expect(heard[0]?.body).toMatchObject({ model: "qwen-image-edit-plus", parameters: { n: 2 } });
  expect(bench.ledger.settlements).toMatchObject([{ quota: 200 }]);
});

test("an image too large for memory arrives complete, also at the next channel after the first refused it", async () => {
  const bytes = Buffer.alloc(5 << 20, "0123456789abcdef");
  const { bench, heard } = stage(24, [
    () => Response.json({ error: { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED" } }, { status: 429 }),
    () => Response.json(drawn),
  ]);
  expect((await edit(bench, formOf({ image: png(bytes), prompt: "a hat", model }))).status).toBe(200);
  expect(heard.map(({ host }) => host)).toEqual(["a.test", "b.test"]);
  for (const { body } of heard)
    expect(Buffer.from(body.contents?.[0]?.parts[1]?.inlineData?.data ?? "", "base64").equals(bytes)).toBe(true);
});

test("images of a model without a price are refused before any upstream is called", async () => {
  const { bench, heard } = stage(17, [() => Response.json({})]);
  const refused = { status: 500, json: { error: { code: "model_price_missing" } } };
  expect(await edit(bench, formOf({ model: "unpriced-edit", prompt: "a hat", image: png() }))).toMatchObject(refused);
  const drawing = await bench.send("/v1/images/generations", { model: "unpriced-draw", prompt: "a hat" });
  expect([drawing.status, await drawing.json()]).toMatchObject([500, refused.json]);
  expect([heard, bench.ledger.holdRequests]).toEqual([[], []]);
});

test("variations are refused at vendors that have none: no upstream is called, nothing is charged", async () => {
  const { bench, heard } = stage(24, [() => Response.json(drawn)]);
  expect(await edit(bench, formOf({ model, image: png() }), "/v1/images/variations")).toMatchObject({
    status: 404,
    json: { error: { code: "operation_unsupported" } },
  });
  expect([heard, bench.ledger.charged]).toEqual([[], 0]);
});

test("the operator's safety settings are sent with Gemini's generations and edits, and not to Imagen, which has other settings", async () => {
  const { bench, heard } = stage(24, [() => Response.json(drawn)]);
  const safety = { default: "OFF", HARM_CATEGORY_HATE_SPEECH: "BLOCK_ONLY_HIGH" };
  // The registry's defaults are values of their keys' types.
  const get = <K extends OptionKey>(key: K): OptionValue<K> =>
    (key === "gemini.safety_settings" ? safety : defaultValue(key)) as OptionValue<K>;
  Object.assign(bench.options, { vendorRules: vendorRules({ get }) });
  await bench.send("/v1/images/generations", { model, prompt: "a cat" });
  await edit(bench, formOf({ model, prompt: "a hat", image: png() }));
  await bench.send("/v1/images/generations", { model: "imagen-4.0-generate-001", prompt: "a cat" });
  const categories = ["HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT"];
  const set = categories.map((name) => ({
    category: `HARM_CATEGORY_${name}`,
    threshold: name === "HATE_SPEECH" ? "BLOCK_ONLY_HIGH" : "OFF",
  }));
  expect(heard.map(({ body }) => body.safetySettings)).toEqual([set, set, undefined]);
});

test("a model that answers in words and draws nothing is refused with its words, and nothing is charged", async () => {
  const words = { content: { role: "model", parts: [{ text: "Which fox do you mean?" }] }, finishReason: "STOP" };
  const { bench } = stage(24, [() => Response.json({ candidates: [words] })]);
  const { status, json } = await edit(bench, formOf({ model, image: png(), prompt: "the fox" }));
  expect([status, json.error]).toMatchObject([
    400,
    { message: expect.stringContaining("no picture was made: Which fox do you mean?") },
  ]);
  expect(bench.ledger.charged).toBe(0);
});
