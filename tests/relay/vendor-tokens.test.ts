/**
 * Access tokens that a channel needs before it can be called: one fetch for all waiting calls, a new token when the
 * vendor revokes it.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { channelType } from "../../src/shared/channel-types";
import { chatBody, makeBench, makeChannel } from "./kit";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const key = JSON.stringify({
  project_id: "p",
  client_email: "weir@p.iam.gserviceaccount.com",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
});
const answer = {
  candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 },
};
const taken = {
  error: { code: 401, message: "Request had invalid authentication credentials.", status: "UNAUTHENTICATED" },
};

/** A Vertex channel whose vendor accepts the tokens that `good` accepts. */
function stage(good: (token: number) => boolean, tokenAnswer?: () => Response) {
  const type = channelType(41);
  if (!type) throw new Error("no channel type 41");
  let tokens = 0;
  const proxies: unknown[] = [];
  const bench = makeBench(
    [makeChannel(1, "", { type, key, other: "us-central1", setting: { proxy: "http://proxy:1" } })],
    {
      async fetch(url, init) {
        proxies.push(init.proxy);
        if (url === "https://oauth2.googleapis.com/token") {
          tokens++;
          return tokenAnswer?.() ?? Response.json({ access_token: `token-${tokens}`, expires_in: 3599 });
        }
        const said = Number(/^Bearer token-(\d+)$/.exec(new Headers(init.headers).get("authorization") ?? "")?.[1]);
        return good(said) ? Response.json(answer) : Response.json(taken, { status: 401 });
      },
    },
  );
  const call = () => bench.send("/v1/chat/completions", chatBody("gemini-2.5-flash"));
  return { bench, call, proxies, asked: () => tokens };
}

test("concurrent calls wait for one token, through the channel's proxy", async () => {
  const { call, asked, proxies, bench } = stage(() => true);
  const answers = await Promise.all(Array.from({ length: 5 }, call));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(asked()).toBe(1);
  expect(new Set(proxies)).toEqual(new Set(["http://proxy:1"]));
  await bench.quiet();
  expect(bench.ledger.holds.size).toBe(0);
});

test("a revoked token is fetched again at once, without a failure of the channel", async () => {
  const { call, asked, bench } = stage((token) => token >= 2);
  expect((await call()).status).toBe(200);
  expect((await call()).status).toBe(200);
  expect(asked()).toBe(2);
  expect(bench.troubles).toEqual([]);
});

test("a vendor that refuses even a fresh token is not called a third time, and the channel has bad credentials", async () => {
  const { call, asked, bench } = stage(() => false);
  expect((await call()).status).toBe(502);
  expect(asked()).toBe(2);
  expect(bench.troubles).toMatchObject([{ channel: 1, disable: true }]);
  expect(bench.ledger.charged).toBe(0);
});

test("refused credentials cost the caller nothing, and the error does not contain the key", async () => {
  const { call, bench } = stage(
    () => true,
    () =>
      Response.json({ error: "invalid_grant", error_description: "Invalid grant: account not found" }, { status: 400 }),
  );
  const response = await call();
  const text = await response.text();
  expect(response.status).toBe(502);
  expect(text).not.toContain("PRIVATE KEY");
  expect(bench.failures).toMatchObject([
    { quota: 0, other: expect.stringContaining("invalid_grant: Invalid grant: account not found") },
  ]);
  expect(bench.troubles).toMatchObject([{ channel: 1, disable: true }]);
  expect(bench.ledger.charged).toBe(0);
  expect(bench.ledger.holds.size).toBe(0);
});
