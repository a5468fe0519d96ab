import { describe, expect, test } from "bun:test";
import { channelType, keyProblem } from "../../../shared/channel-types";
import { makeChannel } from "../../../../tests/relay/kit";
import { googleToken, serviceAccount } from "./google-token";
import type { ProviderContext } from "./provider";
import { vertex } from "./vertex";
import { vertexFamily, vertexHost, vertexModel } from "./vertex-models";

const type = channelType(41);
if (!type) throw new Error("no channel type 41");
const account = { project_id: "p", client_email: "e", private_key: "no key" };
const channel = (other: string, key = JSON.stringify(account)) => makeChannel(1, "", { type, key, other });

describe("Vertex' address", () => {
  test("is the region's own; global, and the two continents, have hosts of their own", () => {
    expect(["global", "eu", "us", "europe-west1"].map(vertexHost)).toEqual([
      "https://aiplatform.googleapis.com",
      "https://aiplatform.eu.rep.googleapis.com",
      "https://aiplatform.us.rep.googleapis.com",
      "https://europe-west1-aiplatform.googleapis.com",
    ]);
    expect(vertex.url(channel("global"), "chat", "gemini-2.5-pro", true)).toBe(
      "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    );
  });

  test("takes the region of the model where the operator named one", () => {
    const map = channel('{"default":"us-central1","claude-opus-4-6":"global"}');
    // spec: C-246
    expect(vertex.url(map, "chat", "claude-opus-4-6")).toContain(
      "/locations/global/publishers/anthropic/models/claude-opus-4-6:rawPredict",
    );
    // spec: C-246
    expect(vertex.url(map, "chat", "gemini-2.5-pro")).toStartWith("https://us-central1-aiplatform.googleapis.com/");
  });

  test("does not exist for a key that is not a service account, or without a region", () => {
    expect(vertex.url(channel("global", "{}"), "chat", "gemini-2.5-pro")).toBeUndefined();
    expect(vertex.url(channel("global", "no json"), "chat", "gemini-2.5-pro")).toBeUndefined();
    expect(vertex.url(channel(""), "chat", "gemini-2.5-pro")).toBeUndefined();
  });
});

describe("an express mode key", () => {
  const KEY = "AQ.Ab8RN6KexampleKeyOfTheExpressMode";
  const express = channel("", KEY);

  test("calls Google's own models without project and region; other makers' are not served", () => {
    const base = "https://aiplatform.googleapis.com/v1/publishers/google/models/";
    expect(vertex.url(express, "chat", "gemini-2.5-flash", true)).toBe(
      `${base}gemini-2.5-flash:streamGenerateContent?alt=sse`,
    );
    expect(vertex.url(express, "images", "imagen-4.0-generate-001")).toBe(`${base}imagen-4.0-generate-001:predict`);
    expect([
      vertex.url(express, "chat", "claude-opus-4-6"),
      vertex.url(express, "chat", "llama-3.3-70b-instruct-maas"),
    ]).toEqual([undefined, undefined]);
  });

  test("is sent as a header; a refused call is not repeated", async () => {
    const calls: BunFetchRequestInit[] = [];
    const fetch = async (_: string, init: BunFetchRequestInit) => {
      calls.push(init);
      return new Response("{}", { status: 401 });
    };
    // Only what sending uses.
    const context = { fetch, signal: new AbortController().signal } as unknown as ProviderContext;
    const asked = {
      channel: express,
      operation: "chat",
      model: "gemini-2.5-flash",
      stream: false,
      url: "https://x.test/",
      headers: {},
      body: Buffer.from("{}"),
    } as const;
    const ready = await vertex.prepare?.(asked, context);
    expect(ready?.headers).toEqual({ "x-goog-api-key": KEY });
    expect((await vertex.open?.(ready ?? asked, context))?.status).toBe(401);
    expect(calls).toHaveLength(1);
  });

  test("is distinguished from a broken credential", () => {
    const problem = (key: string) => keyProblem(41, key);
    expect(problem(KEY)).toBeUndefined();
    expect(problem(JSON.stringify(account))).toBeUndefined();
    for (const key of ["short", "two words that are long enough", '{"project_id":"p"}', `${KEY}\n${KEY}`])
      expect(problem(key)?.en).toContain("or an API Key");
  });
});

test("models have Google's names and their makers' languages", () => {
  expect(["claude-3-5-sonnet-20241022", "claude-haiku-4-5-20251001", "claude-opus-4-6"].map(vertexModel)).toEqual([
    "claude-3-5-sonnet-v2@20241022",
    "claude-haiku-4-5@20251001",
    "claude-opus-4-6",
  ]);
  expect(
    ["llama-3.3-70b-instruct-maas", "deepseek-ai/deepseek-v3.1-maas", "gemini-2.5-pro"].map((model) => [
      vertexModel(model),
      vertexFamily(model),
    ]),
  ).toEqual([
    ["meta/llama-3.3-70b-instruct-maas", "openai-chat"],
    ["deepseek-ai/deepseek-v3.1-maas", "openai-chat"],
    ["gemini-2.5-pro", "gemini"],
  ]);
});

test("errors are read as Google's, and Anthropic's are left to Anthropic's dialect", () => {
  expect(
    vertex.readError?.([{ error: { code: 429, message: "Quota exceeded", status: "RESOURCE_EXHAUSTED" } }]),
  ).toMatchObject({ message: "Quota exceeded" });
  expect(
    vertex.readError?.({ type: "error", error: { type: "invalid_request_error", message: "no" } }),
  ).toBeUndefined();
});

test("a private key that cannot be read, or that Google refuses, is bad credentials and never in the error", async () => {
  const found = serviceAccount(channel("global"));
  if (!found) throw new Error("no account");
  const tools = {
    now: () => 0,
    fetch: async () =>
      Response.json({ error: "invalid_grant", error_description: "Invalid JWT Signature." }, { status: 400 }),
  };
  // Only what the token fetch uses.
  const failure: unknown = await googleToken(found, tools as unknown as ProviderContext).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ failure: { kind: "bad_credentials", disable: true } });
  expect(JSON.stringify(failure)).not.toContain("no key");
});
