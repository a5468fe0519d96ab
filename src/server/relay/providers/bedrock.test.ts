import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { channelType } from "../../../shared/channel-types";
import { amazonEvent, amazonException, claudePiece } from "../../../../tests/conformance/amazon";
import type { PoolChannel } from "../../contracts/channel";
import { jsonEvents, withError } from "./amazon-events";
import { bedrock } from "./bedrock";
import { bedrockModel, isClaude } from "./bedrock-models";
import type { Outgoing, ProviderContext } from "./provider";

const type = channelType(33);
if (!type) throw new Error("no channel type 33");
const channel = (key: string, more: Partial<PoolChannel> = {}): PoolChannel => ({
  id: 1,
  name: "c",
  type,
  key,
  base_url: "",
  other: "",
  organization: "",
  models: new Set(),
  groups: new Set(),
  priority: 0,
  weight: 0,
  auto_ban: true,
  model_mapping: new Map(),
  status_mapping: new Map(),
  setting: {},
  test_model: "",
  ...more,
});
const context = { now: () => Date.UTC(2026, 10, 21, 12) } as ProviderContext;

function outgoing(key: string, more: Partial<Outgoing> = {}): Outgoing {
  const from = channel(key);
  const body = Buffer.from(
    '{"model":"m","stream":false,"max_tokens":10,"messages":[{"role":"user","content":"hello"}]}',
  );
  const model = "claude-sonnet-4-5-20250929";
  return {
    channel: from,
    operation: "chat",
    model,
    stream: false,
    url: bedrock.url(from, "chat", model) ?? "",
    headers: bedrock.headers(from),
    body,
    ...more,
  };
}

/** Signature Version 4 of that request, step by step (docs.aws.amazon.com/IAM, "Create a signed AWS API request"). */
function sigV4(secret: string, body: string, token = ""): string {
  const sha = (text: string): string => createHash("sha256").update(text).digest("hex");
  const mac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const headers = {
    host: "bedrock-runtime.us-east-1.amazonaws.com",
    "x-amz-date": "20261121T120000Z",
    ...(token !== "" && { "x-amz-security-token": token }),
  };
  const lines = Object.entries(headers)
    .map(([name, value]) => `${name}:${value}\n`)
    .join("");
  const canonical = [
    "POST",
    "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%253A0/invoke",
    "",
    lines,
    Object.keys(headers).join(";"),
    sha(body),
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", "20261121T120000Z", "20261121/us-east-1/bedrock/aws4_request", sha(canonical)].join(
    "\n",
  );
  const key = ["20261121", "us-east-1", "bedrock", "aws4_request"].reduce<string | Buffer>(mac, `AWS4${secret}`);
  return mac(key, text).toString("hex");
}

describe("Bedrock's request", () => {
  test("has the signature that Amazon's own signer makes", async () => {
    const ready = await bedrock.prepare?.(
      outgoing("AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1"),
      context,
    );
    expect(ready?.url).toBe(
      "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke",
    );
    expect(ready?.body.toString()).toBe(
      '{"anthropic_version":"bedrock-2023-05-31","max_tokens":10,"messages":[{"role":"user","content":"hello"}]}',
    );
    // SignatureV4 of @smithy/signature-v4 3.1.2 over the same request (November 2026).
    expect(ready?.headers.authorization).toBe(
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, " +
        "Signature=dccefd60da36303db2aa6d0ec169c863eb2f7587b176a5251e64b858a8e89c60",
    );
    expect(ready?.headers["x-amz-date"]).toBe("20261121T120000Z");
  });

  test("temporary credentials: the session token is sent and signed", async () => {
    const [id, secret] = ["AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"];
    const signature = async (token: string): Promise<readonly [unknown, string | undefined]> => {
      const ready = await bedrock.prepare?.(
        outgoing(`${id}|${secret}|us-east-1${token === "" ? "" : `|${token}`}`),
        context,
      );
      return [ready?.headers["x-amz-security-token"], /Signature=(\w+)/.exec(ready?.headers.authorization ?? "")?.[1]];
    };
    const body =
      '{"anthropic_version":"bedrock-2023-05-31","max_tokens":10,"messages":[{"role":"user","content":"hello"}]}';
    // The first assertion is the vector of Amazon's signer above: it proves the steps by which the second is made.
    expect(await signature("")).toEqual([undefined, sigV4(secret, body)]);
    expect(sigV4(secret, body)).toBe("dccefd60da36303db2aa6d0ec169c863eb2f7587b176a5251e64b858a8e89c60");
    expect(await signature("FwoGZXIvYXdzEBYaD+/=")).toEqual([
      "FwoGZXIvYXdzEBYaD+/=",
      sigV4(secret, body, "FwoGZXIvYXdzEBYaD+/="),
    ]);
  });

  test("the web search tool, which Bedrock does not run, is left out with a warning; other tools stay", async () => {
    const warned: string[] = [];
    const noting = {
      ...context,
      warn: (code: string, detail: string) => void warned.push(`${code} ${detail}`),
    } as ProviderContext;
    const sent = async (list: unknown[]) => {
      const body = Buffer.from(
        JSON.stringify({ model: "m", max_tokens: 10, messages: [], tools: list, tool_choice: { type: "auto" } }),
      );
      return JSON.parse(
        (await bedrock.prepare?.(outgoing("my-api-key|eu-west-1", { body }), noting))?.body.toString() ?? "",
      );
    };
    const search = { type: "web_search_20250305", name: "web_search" };
    expect(await sent([search])).toEqual({ anthropic_version: "bedrock-2023-05-31", max_tokens: 10, messages: [] });
    expect(await sent([search, { name: "web_search", input_schema: { type: "object" } }])).toMatchObject({
      tools: [{ name: "web_search" }],
      tool_choice: { type: "auto" },
    });
    expect(warned).toEqual(["dropped_tool web_search", "dropped_tool web_search"]);
  });

  test("an API key is sent unchanged, without a signature", async () => {
    const ready = await bedrock.prepare?.(outgoing("my-api-key|eu-west-1"), context);
    expect(ready?.headers).toEqual({ authorization: "Bearer my-api-key" });
    expect(ready?.url).toStartWith("https://bedrock-runtime.eu-west-1.amazonaws.com/model/eu.anthropic.");
  });

  test("a key in another format has no address", () => {
    expect(bedrock.url(channel("only-a-key"), "chat", "claude-3-haiku-20240307")).toBeUndefined();
  });
});

describe("Amazon's names of models", () => {
  test.each([
    ["claude-3-haiku-20240307", "ap-northeast-1", "apac.anthropic.claude-3-haiku-20240307-v1:0"],
    ["claude-3-5-sonnet-20241022", "us-west-2", "us.anthropic.claude-3-5-sonnet-20241022-v2:0"],
    ["claude-opus-4-6", "eu-central-1", "eu.anthropic.claude-opus-4-6-v1"],
    ["claude-sonnet-4-6", "ap-south-1", "global.anthropic.claude-sonnet-4-6"],
    ["claude-haiku-4-5-20251001", "sa-east-1", "global.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ["claude-3-5-sonnet-20240620", "us-gov-west-1", "us-gov.anthropic.claude-3-5-sonnet-20240620-v1:0"],
    ["nova-pro-v1:0", "us-east-1", "us.amazon.nova-pro-v1:0"],
    ["anthropic.claude-v2:1", "us-east-1", "anthropic.claude-v2:1"],
    ["eu.meta.llama3-2-1b-instruct-v1:0", "eu-west-1", "eu.meta.llama3-2-1b-instruct-v1:0"],
    ["arn:aws:bedrock:us-east-1:1:inference-profile/x", "us-east-1", "arn:aws:bedrock:us-east-1:1:inference-profile/x"],
  ])("%s in %s is %s", (model, region, id) => expect(bedrockModel(model, region)).toBe(id));

  test("Claude is distinguished from the models of other makers", () => {
    for (const model of [
      "claude-opus-4-6",
      "us.anthropic.claude-3-haiku-20240307-v1:0",
      "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc",
    ]) {
      expect([model, isClaude(model)]).toEqual([model, true]);
    }
    for (const model of [
      "nova-lite-v1:0",
      "amazon.nova-lite-v1:0",
      "us.meta.llama4",
      "mistral.mistral-large",
      "arn:aws:bedrock:us-east-1::foundation-model/deepseek.r1-v1:0",
    ]) {
      expect([model, isClaude(model)]).toEqual([model, false]);
    }
  });
});

const read = (event: string, { bytes }: Record<string, unknown>) => ({
  data: typeof bytes === "string" ? Buffer.from(bytes, "base64").toString() : event,
});

async function readAll(pieces: Uint8Array[]): Promise<string[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return (await Array.fromAsync(jsonEvents(body, read))).map(({ data }) => data);
}

describe("an event stream", () => {
  const whole = Buffer.concat([
    claudePiece({ type: "ping" }),
    amazonEvent("initial-response", {}),
    claudePiece({ type: "message_stop", text: "é" }),
  ]);
  const texts = ['{"type":"ping"}', "initial-response", '{"type":"message_stop","text":"é"}'];

  test("reads the same wherever it is split, even byte by byte", async () => {
    for (let cut = 0; cut <= whole.length; cut++)
      expect(await readAll([whole.subarray(0, cut), whole.subarray(cut)])).toEqual(texts);
    expect(await readAll([...whole].map((byte) => Uint8Array.of(byte)))).toEqual(texts);
  });

  test("that is truncated, has a wrong length or fails its checksum throws", async () => {
    await expect(readAll([whole.subarray(0, whole.length - 1)])).rejects.toThrow("cut");
    await expect(readAll([Buffer.from("<html>this is no event stream</html>")])).rejects.toThrow("length");
    const broken = Buffer.from(whole);
    broken[40] = (broken[40] ?? 0) ^ 1;
    await expect(readAll([broken])).rejects.toThrow(/checksum/i);
  });

  test("an exception inside it becomes Anthropic's error, and everything after it is ignored", async () => {
    const said = await readAll([amazonException("throttlingException", "slow down"), claudePiece({ type: "ping" })]);
    expect(said.map((text) => JSON.parse(text))).toEqual([
      { type: "error", error: { type: "rate_limit_error", message: "slow down" } },
    ]);
  });

  test("is cancelled when its reader stops", async () => {
    let gone = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(claudePiece({ type: "ping" })),
      cancel: () => void (gone = true),
    });
    const events = jsonEvents(body, () => ({ data: "x" }));
    expect((await events.next()).value).toEqual({ data: "x" });
    await events.return(undefined);
    expect(gone).toBe(true);
  });
});

test("errors carry Amazon's own name: bad keys are distinguished from denied models", async () => {
  const refused = async (name: string, status: number): Promise<unknown> =>
    (await withError(Response.json({ message: "no" }, { status, headers: { "x-amzn-errortype": name } }))).json();
  expect(await refused("UnrecognizedClientException:http://x", 403)).toEqual({
    type: "error",
    error: { type: "authentication_error", message: "no" },
  });
  expect(await refused("AccessDeniedException", 403)).toMatchObject({ error: { type: "permission_error" } });
  expect(await refused("ResourceNotFoundException", 404)).toMatchObject({ error: { type: "model_not_found" } });
  expect(await (await withError(new Response("<html>", { status: 502 }))).json()).toMatchObject({
    error: { type: "api_error" },
  });
});
