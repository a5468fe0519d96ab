import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readEnv } from "../../env";
import { egressFetch, ResponseTooLarge } from "../../lib/egress";
import type { OptionStore } from "../../contracts/option-store";
import { userFetch } from "./egress-policy";

const asked: { body: unknown; headers: Record<string, string> }[] = [];
const worker = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    asked.push({ body: await request.json(), headers: Object.fromEntries(request.headers) });
    return new Response("x".repeat(50), { status: 207, headers: { "x-from": "worker" } });
  },
});
afterAll(() => worker.stop(true));
beforeEach(() => void asked.splice(0));

/** Only the two options are read. */
const services = (url: string) => ({
  env: readEnv({}),
  options: { get: (name: string) => (name === "WorkerUrl" ? url : "worker-key") } as unknown as OptionStore,
});
const through = userFetch(services(`http://127.0.0.1:${worker.port}/w`));
const nowhere = async (): Promise<string[]> => Promise.reject(new Error("no such name"));
const code = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "none",
    (error) => error.code ?? error.name,
  );

describe("addresses that users typed", () => {
  test("without a worker they are fetched from here, by the policy", () => {
    // spec: D-25
    expect(userFetch(services(""))).toEqual({ allowPrivate: false, worker: undefined });
  });

  test("with one, it gets url, key, method, headers and body; its answer is the answer", async () => {
    const answer = await egressFetch("https://hook.example/a?b=1", {
      ...through,
      method: "POST",
      headers: { "x-signature": "s" },
      body: '{"n":1}',
      resolve: async () => ["93.184.216.34"],
    });
    expect([answer.status, answer.headers.get("x-from"), answer.text.length]).toEqual([207, "worker", 50]);
    // spec, D-25
    expect(asked.map(({ body }) => body)).toEqual([
      {
        url: "https://hook.example/a?b=1",
        key: "worker-key",
        method: "POST",
        headers: { "x-signature": "s" },
        body: '{"n":1}',
      },
    ]);
    // Headers for the address are not headers of the request to the worker.
    expect(asked[0]?.headers["x-signature"]).toBeUndefined();
  });

  test("a name that only the worker knows goes there; a private address, or one that is not http, is refused", async () => {
    expect(await code(egressFetch("https://only-there.example/", { ...through, resolve: nowhere }))).toBe("none");
    asked.splice(0);
    for (const url of [
      "http://127.0.0.1/",
      "http://[::1]/",
      "http://169.254.169.254/latest",
      "http://2130706433/",
      "ftp://a.example/",
      "http://u:p@a.example/",
      "",
    ]) {
      expect([url, await code(egressFetch(url, { ...through, resolve: nowhere }))]).toEqual([url, "address_forbidden"]);
    }
    expect(await code(egressFetch("http://inside.example/", { ...through, resolve: async () => ["10.0.0.1"] }))).toBe(
      "address_forbidden",
    );
    expect(asked).toEqual([]);
  });

  test("a worker's answer is limited in size as any other", async () => {
    await expect(
      egressFetch("https://a.example/", { ...through, resolve: nowhere, maxBytes: 10 }),
    ).rejects.toBeInstanceOf(ResponseTooLarge);
  });
});
