import { describe, expect, test } from "bun:test";
import { scanModel } from "./prepared";
import { rawCall } from "./raw-call";
import { startFakeUpstream } from "./server";

const chat = (url: string, body: object, init: RequestInit = {}) =>
  fetch(`${url}/v1/chat/completions?tag=1`, { method: "POST", body: JSON.stringify(body), ...init });

describe("the journal", () => {
  test("holds each request: method, path, query, headers, body, key and model", async () => {
    using upstream = startFakeUpstream();
    await (
      await chat(
        upstream.url,
        { model: "echo", extra: "é" },
        { headers: { authorization: "Bearer sk-9", "x-custom": "1" } },
      )
    ).text();
    await upstream.journal.wait((entry) => entry.finished);
    const entry = upstream.journal.last();
    expect(entry).toMatchObject({
      method: "POST",
      path: "/v1/chat/completions",
      query: { tag: "1" },
      key: "sk-9",
      model: "echo",
      aborted: false,
      finished: true,
    });
    expect(entry.headers["x-custom"]).toBe("1");
    expect(JSON.parse(entry.body)).toEqual({ model: "echo", extra: "é" });
    expect(entry.bytesWritten).toBeGreaterThan(300);
    upstream.journal.clear();
    expect(upstream.journal.entries).toHaveLength(0);
    expect(() => upstream.journal.last()).toThrow("not asked");
  });

  test("reads the key wherever a vendor expects it", async () => {
    using upstream = startFakeUpstream();
    const ways: [string, Record<string, string>][] = [
      ["", { "x-api-key": "k" }],
      ["", { "x-goog-api-key": "k" }],
      ["?key=k", {}],
      ["", { "api-key": "k" }],
    ];
    for (const [query, headers] of ways) await (await fetch(`${upstream.url}/v1/models${query}`, { headers })).text();
    expect(upstream.journal.entries.map((entry) => entry.key)).toEqual(["k", "k", "k", "k"]);
  });

  for (const model of [
    "hang-before-headers",
    "hang-after-headers",
    "hang-in-frame",
    "paced:1000:5",
    "slow-head:5000",
    "late-usage:5000",
  ]) {
    test(`sees at once that the caller of ${model} has left, and nothing keeps running`, async () => {
      using upstream = startFakeUpstream();
      const abort = new AbortController();
      const gone = chat(upstream.url, { model, stream: true }, { signal: abort.signal })
        .then(
          (r) => r.text(),
          () => "",
        )
        .catch(() => "");
      await upstream.journal.wait(() => true);
      await Bun.sleep(20);
      expect(upstream.active).toBe(1);
      const before = Date.now();
      abort.abort();
      const entry = await upstream.journal.wait((e) => e.aborted);
      expect((entry.abortedAt ?? Infinity) - before).toBeLessThan(500);
      expect(upstream.active).toBe(0);
      await gone;
    });
  }

  test("a wait that is never satisfied rejects and lists what was seen", async () => {
    using upstream = startFakeUpstream();
    await (await chat(upstream.url, { model: "echo" })).text();
    await expect(upstream.journal.wait((entry) => entry.aborted, 20)).rejects.toThrow("/v1/chat/completions echo");
  });
});

describe("time", () => {
  test("all pauses use the given clock, so a test can decide when they end", async () => {
    const sleeps: { ms: number; wake: () => void }[] = [];
    const clock = { now: () => 1000, sleep: (ms: number) => new Promise<void>((wake) => sleeps.push({ ms, wake })) };
    using upstream = startFakeUpstream({ clock });
    const answer = chat(upstream.url, { model: "slow-head:800" });
    await upstream.journal.wait((entry) => entry.arrivedAt === 1000);
    while (sleeps.length === 0) await Bun.sleep(1);
    expect(await Promise.race([answer.then(() => "answered"), Bun.sleep(30).then(() => "waiting")])).toBe("waiting");
    expect(sleeps.map((sleep) => sleep.ms)).toEqual([800]);
    sleeps[0]?.wake();
    expect((await answer).status).toBe(200);
  });

  test("late usage comes after the finish reason by at least the pause", async () => {
    using upstream = startFakeUpstream();
    const response = await chat(upstream.url, { model: "words:2+late-usage:80", stream: true });
    const seen: { at: number; text: string }[] = [];
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) seen.push({ at: performance.now(), text: decoder.decode(bytes) });
    const at = (mark: string) => seen.find((part) => part.text.includes(mark))?.at ?? Number.NaN;
    expect(at('"usage":{') - at('"finish_reason":"stop"')).toBeGreaterThan(60);
  });
});

describe("the connection", () => {
  test("is kept for the next request, and counted", async () => {
    using upstream = startFakeUpstream();
    for (let i = 0; i < 5; i++) await (await chat(upstream.url, { model: "echo" })).text();
    expect(upstream.connections).toEqual({ open: 1, accepted: 1 });
  });

  test("takes chunked and large request bodies", async () => {
    using upstream = startFakeUpstream();
    const text = "ß".repeat(2_000_000);
    const body = JSON.stringify({ model: "echo", messages: [{ role: "user", content: text }] });
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        const bytes = Buffer.from(body);
        for (let at = 0; at < bytes.length; at += 300_001) controller.enqueue(bytes.subarray(at, at + 300_001));
        controller.close();
      },
    });
    const response = await fetch(`${upstream.url}/v1/chat/completions`, { method: "POST", body: stream });
    expect(await response.json()).toHaveProperty("choices.0.message.content", text);
    expect(upstream.journal.last().headers["transfer-encoding"]).toBe("chunked");
  });

  test("a caller that reads slowly still gets every byte", async () => {
    using upstream = startFakeUpstream();
    const response = await chat(upstream.url, { model: "huge:12", stream: true });
    let size = 0;
    for await (const bytes of response.body ?? []) {
      size += bytes.length;
      if (size < 2_000_000) await Bun.sleep(2);
    }
    expect(size).toBeGreaterThan(12 * 1048576);
  });

  test("a port in use is an error", () => {
    using upstream = startFakeUpstream();
    expect(() => startFakeUpstream({ port: upstream.port })).toThrow();
  });
});

describe("without a journal", () => {
  test("prepared answers equal the composed ones byte for byte, except for id and time", async () => {
    using recorded = startFakeUpstream();
    using fast = startFakeUpstream({ journal: false });
    const strip = (text: string) =>
      text.replaceAll(/fake\d{8}|prepared/g, "ID").replaceAll(/"created(_at)?":\d+|"completed_at":\d+/g, "");
    for (const path of ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"]) {
      for (const model of ["words:5", "burst:5", "paced:5:1", "text:1000+slow-head:1", "json+crlf+reasoning"]) {
        for (const options of [{}, { stream: true }, { stream: true, stream_options: { include_usage: true } }]) {
          const body = { messages: [{ role: "user", content: 'a "model": "x"' }], ...options, model };
          const [a, b] = await Promise.all([recorded, fast].map((upstream) => rawCall(upstream.url, path, body, 400)));
          expect(strip(b?.body ?? "")).toBe(strip(a?.body ?? "-"));
          expect(b?.terminated).toBe(a?.terminated);
        }
      }
    }
    expect(fast.journal.entries).toHaveLength(0);
  }, 20_000);

  test("misbehaviour and echo work the same", async () => {
    using fast = startFakeUpstream({ journal: false });
    expect(
      await (await chat(fast.url, { model: "echo", messages: [{ role: "user", content: "hi" }] })).json(),
    ).toHaveProperty("choices.0.message.content", "hi");
    expect(
      (await rawCall(fast.url, "/v1/chat/completions", { model: "words:9+cut-midstream", stream: true })).end,
    ).toBe("reset");
  });

  test("the model scan finds the key and not a quoted mention of it", () => {
    expect(scanModel(Buffer.from('{"messages":[{"content":"say \\"model\\": \\"x\\""}], "model" : "words:5"}'))).toBe(
      "words:5",
    );
    expect(scanModel(Buffer.from('{"model":"a\\u0062"}'))).toBeUndefined();
    expect(scanModel(Buffer.from("{}"))).toBeUndefined();
  });
});
