/** Calls, realtime sessions, jobs and batches ask for limits and hold by `admit`, and do nothing that it refuses. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AdmissionRequest, Admit, Refusal } from "../../src/server/contracts/admission";
import { WALLET } from "../../src/server/contracts/ledger";
import { startFakeRealtime } from "../kit/fake-upstream/realtime";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { connectClient, serveSessions, until } from "../realtime/kit";
import { chatBody, makeBench, makeChannel } from "../relay/kit";
import { type Caller, openTaskBench, type TaskBench } from "../tasks/kit";
import { FakeSuno } from "../tasks/suno-fake";

const refusal: Refusal = {
  granted: false,
  by: "limit",
  limits: undefined,
  code: "rate_limited_requests",
  values: { scope_zh: "", scope_en: "", limit: 1, retry_after_s: 17 },
  retry_after_s: 17,
};

/** Passes requests on to `admit` and keeps them, or refuses them all. */
class Spy {
  readonly requests: AdmissionRequest[] = [];
  refuses = false;

  around(admit: Admit): Admit {
    return async (request) => {
      this.requests.push(request);
      return this.refuses ? refusal : admit(request);
    };
  }

  /** What was asked since the last reading: the limits' model, and the id of the hold. */
  read(): [model: string | undefined, hold: string | undefined][] {
    return this.requests
      .splice(0)
      .map(({ limits, hold }) => [limits && `${limits.model}${limits.inside ? " inside" : ""}`, hold?.request_id]);
  }
}

describe("a relay in memory", () => {
  const upstream = startFakeUpstream();
  const realtime = startFakeRealtime();
  const stops: (() => unknown)[] = [() => upstream.close(), () => realtime.close()];
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop();
  });

  function setUp(url: string) {
    const spy = new Spy();
    const bench = makeBench([makeChannel(1, url)]);
    bench.controlPlane.admit = spy.around(bench.controlPlane.admit);
    return { bench, spy };
  }

  test("a call asks once, for limits and hold together; refused, it reaches no upstream", async () => {
    const { bench, spy } = setUp(upstream.url);
    expect((await bench.send("/v1/chat/completions", chatBody("gpt-4o"))).status).toBe(200);
    expect(spy.requests).toMatchObject([{ caller: bench.caller, hold: { sources: WALLET } }]);
    expect(spy.read()).toEqual([["gpt-4o", "req-1"]]);
    spy.refuses = true;
    const response = await bench.send("/v1/chat/completions", chatBody("gpt-4o"));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "17"]);
    expect([bench.ledger.holdRequests.length, bench.ledger.settlements.length]).toEqual([1, 1]);
  });

  test("the response reports the caller's limits, whether its hold is taken, refused or fails", async () => {
    const { bench } = setUp(upstream.url);
    bench.caller.rpm = 9;
    const send = async () => {
      const response = await bench.send("/v1/chat/completions", chatBody("gpt-4o", { max_tokens: 10 }));
      return [response.status, response.headers.get("x-ratelimit-remaining-requests")];
    };
    expect(await send()).toEqual([200, "8"]);
    bench.ledger.balance = 1;
    expect(await send()).toEqual([429, "7"]);
    bench.ledger.hold = () => Promise.reject(new Error("away"));
    expect(await send()).toEqual([503, "6"]);
  });

  test("a call that costs nothing asks for limits only", async () => {
    const { bench, spy } = setUp(upstream.url);
    const count = () => bench.send("/v1/messages/count_tokens", chatBody("claude-3", { max_tokens: 1 }));
    expect((await count()).status).toBe(200);
    expect(spy.read()).toEqual([["", undefined]]);
    spy.refuses = true;
    expect((await count()).status).toBe(429);
    expect(bench.ledger.holdRequests).toEqual([]);
  });

  test("a session asks for its limits and its first hold together, each response for its own limits and the next hold", async () => {
    const { bench, spy } = setUp(realtime.url);
    const server = serveSessions(bench);
    stops.push(server.stop);
    const client = connectClient(server.url, "gpt-realtime");
    await client.open();
    expect(spy.read()).toEqual([["gpt-realtime", "req-1-1"]]);
    client.say({ type: "response.create" });
    await client.heard("response.done");
    await until("held again", () => bench.ledger.holdRequests.length === 2);
    expect(spy.read()).toEqual([
      ["gpt-realtime inside", undefined],
      [undefined, "req-1-2"],
    ]);
    spy.refuses = true;
    client.say({ type: "response.create" });
    await client.ended();
    // The refused response ends the session; no other one is held.
    expect(spy.read()).toEqual([["gpt-realtime inside", undefined]]);
    expect(bench.ledger.holdRequests).toHaveLength(2);
    const refused = connectClient(server.url, "gpt-realtime");
    await refused.ended();
    expect([refused.frames, realtime.connections.length]).toEqual([[], 1]);
  });
});

describe("jobs", () => {
  let bench: TaskBench;
  let ann: Caller;
  const spy = new Spy();
  beforeAll(async () => {
    bench = await openTaskBench("sqlite", ({ admit }) => ({ admit: spy.around(admit) }));
    await bench.setOption("ModelRatio", JSON.stringify({ "gpt-4o-mini": 1 }));
    await bench.channel(36, ["suno_music"]);
    await bench.channel(1, ["gpt-4o-mini"], { setting: JSON.stringify({ allow_files: true, allow_batches: true }) });
    ann = await bench.caller();
  }, HOOK_MS);
  afterAll(async () => {
    await bench?.balanced();
    await bench?.close();
  });

  /** Submits a job, granted and then refused: the requests of the first, and the response to the second. */
  async function submit(path: string, body: object) {
    spy.refuses = false;
    spy.read();
    const { status } = await ann.ask("POST", path, body);
    expect(status).toBe(200);
    const requests = [...spy.requests];
    const money = await bench.money(ann);
    const jobs = (await bench.tasks()).length;
    const sent = bench.vendor.count("POST", path);
    spy.refuses = true;
    const refused = await ann.send("POST", path, body);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "17"]);
    expect(await bench.money(ann)).toEqual(money);
    expect([(await bench.tasks()).length, bench.vendor.count("POST", path)]).toEqual([jobs, sent]);
    return requests;
  }

  test("a job asks once, for limits and hold together; refused, it reaches no vendor and leaves no job", async () => {
    new FakeSuno(bench.vendor);
    expect(await submit("/suno/submit/music", { prompt: "x" })).toMatchObject([
      { limits: { model: "suno_music" }, hold: { user_id: ann.user_id, sources: WALLET } },
    ]);
  });

  test("a batch is such a job", async () => {
    const line = {
      custom_id: "r1",
      method: "POST",
      url: "/v1/chat/completions",
      body: { model: "gpt-4o-mini", messages: [{ role: "user", content: "hi" }], max_tokens: 10 },
    };
    bench.vendor
      .on("POST /v1/files", { id: "file-1", object: "file", bytes: 10, purpose: "batch", filename: "in.jsonl" })
      .on("GET /v1/files/{id}/content", () => new Response(JSON.stringify(line)))
      .on("POST /v1/batches", { id: "batch_1", object: "batch", status: "validating" });
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new File([JSON.stringify(line)], "in.jsonl", { type: "application/jsonl" }));
    spy.refuses = false;
    const { body } = await ann.ask("POST", "/v1/files", form);
    const batch = { input_file_id: body.id, endpoint: line.url, completion_window: "24h" };
    expect(await submit("/v1/batches", batch)).toMatchObject([
      { limits: { model: "gpt-4o-mini" }, hold: { user_id: ann.user_id, sources: WALLET } },
    ]);
  });
});
