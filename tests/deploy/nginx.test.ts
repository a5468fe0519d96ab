/** The proxy file of docs/deploy.md does what it promises, in a real nginx in front of a small streaming server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { createAddressReader } from "../../src/server/http/address";
import { required } from "../kit/required";
import { type Nginx, startNginx, startTwoNodes } from "./nginx-process";

const nginx = required("nginx");

/** In CI longer than nginx's own 60 s, which cuts streams if the file does not change it. */
const SILENCE_MS = process.env.WEIR_REQUIRE_ALL === "1" ? 63_000 : 1_500;

/** What the server behind the proxy saw; each promise resolves when it happens. */
const seen = {
  firstRead: Promise.withResolvers<void>(),
  upload: Promise.withResolvers<string>(),
  left: Promise.withResolvers<void>(),
};
const addressOf = createAddressReader(["127.0.0.1"]);

/** Chunks as they come, one at a time. */
function streamOf(chunks: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    { highWaterMark: 0 },
  );
}

function startBackend(): Server<undefined> {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request, server) {
      const { pathname } = new URL(request.url);
      const events = (source: () => AsyncGenerator<string>) =>
        new Response(streamOf(source()), {
          headers: { "content-type": "text/event-stream", "cache-control": "no-cache" },
        });
      if (pathname === "/stream") {
        return events(async function* () {
          yield "event: one\n\n";
          await seen.firstRead.promise; // the second leaves only after the caller has read the first
          yield "event: two\n\n";
        });
      }
      if (pathname === "/silent") {
        return events(async function* () {
          yield "event: before\n\n";
          await Bun.sleep(SILENCE_MS);
          yield "event: after\n\n";
        });
      }
      if (pathname === "/endless") {
        request.signal.addEventListener("abort", () => seen.left.resolve());
        return events(async function* () {
          for (let n = 0; ; n++) {
            yield `event: ${n}\n\n`;
            await Bun.sleep(20);
          }
        });
      }
      if (pathname === "/upload") {
        const reader = request.body?.getReader();
        const first = await reader?.read();
        seen.upload.resolve(new TextDecoder().decode(first?.value));
        let bytes = first?.value?.length ?? 0;
        for (let more = await reader?.read(); more && !more.done; more = await reader?.read())
          bytes += more.value.length;
        return Response.json({ bytes });
      }
      if (pathname === "/socket" && server.upgrade(request)) return undefined;
      const peer = server.requestIP(request)?.address ?? "";
      return Response.json({ headers: Object.fromEntries(request.headers), address: addressOf(request.headers, peer) });
    },
    websocket: { message: (socket, message) => void socket.send(`echo ${message}`) },
  });
}

describe.skipIf(!nginx)("deploy/nginx.conf", () => {
  let backend: Server<undefined>;
  let proxy: Nginx;
  let silent: Promise<string>;
  // The certificate is the test's own.
  const get = (path: string, init: BunFetchRequestInit = {}) =>
    fetch(`${proxy.https}${path}`, { ...init, tls: { rejectUnauthorized: false } });

  beforeAll(async () => {
    backend = startBackend();
    proxy = await startNginx(nginx ?? "", backend.port ?? 0);
    silent = get("/silent").then((answer) => answer.text());
    silent.catch(() => {}); // read in its own test
  });
  afterAll(async () => {
    await proxy.stop();
    await backend.stop(true);
  });

  test("nginx accepts it", () => {
    expect(proxy.tested).toContain("syntax is ok");
    expect(proxy.tested).not.toContain("[emerg]");
  });

  test("plain HTTP is sent to HTTPS with the method kept", async () => {
    const answer = await fetch(`${proxy.http}/v1/models?a=1`, {
      redirect: "manual",
      headers: { host: "weir.example.com" },
    });
    expect(answer.status).toBe(308);
    expect(answer.headers.get("location")).toBe("https://weir.example.com/v1/models?a=1");
  });

  test("an event reaches the caller before the next one exists", async () => {
    const started = performance.now();
    const reader = (await get("/stream")).body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toBe("event: one\n\n");
    const ms = performance.now() - started;
    seen.firstRead.resolve();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("event: two\n\n");
    expect((await reader?.read())?.done).toBe(true);
    console.log(`nginx: first event after ${ms.toFixed(1)} ms`);
  }, 10_000);

  test("an upload reaches Weir while it is still being sent", async () => {
    async function* body() {
      yield "first part";
      expect(await seen.upload.promise).toBe("first part");
      yield "second part";
    }
    const answer = await get("/upload", { method: "POST", body: streamOf(body()) });
    expect(await answer.json()).toEqual({ bytes: "first partsecond part".length });
  }, 10_000);

  test("Weir learns the caller's address and HTTPS, and an invented address does not get through", async () => {
    const answer = await get("/who", {
      headers: { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "gopher", host: "weir.example.com" },
    });
    const { headers, address } = (await answer.json()) as {
      headers: Record<string, string>;
      address: { ip: string; secure: boolean };
    };
    expect(headers["x-forwarded-for"]).toBe("127.0.0.1");
    expect(headers["x-forwarded-proto"]).toBe("https");
    expect(headers["host"]).toBe("weir.example.com");
    expect(headers["connection"] ?? "").not.toContain("close");
    expect(address).toEqual({ ip: "127.0.0.1", secure: true });
  });

  test("a WebSocket passes", async () => {
    // Bun's constructor takes options where the browser's takes protocols; DOM types know the latter only.
    const options = { tls: { rejectUnauthorized: false } } as unknown as string[];
    const socket = new WebSocket(`${proxy.https.replace("https", "wss")}/socket`, options);
    const answer = await new Promise<string>((done, failed) => {
      socket.onopen = () => socket.send("ping");
      socket.onmessage = (event) => done(String(event.data));
      socket.onerror = () => failed(new Error("no WebSocket through nginx"));
    });
    socket.close();
    expect(answer).toBe("echo ping");
  });

  test("a caller's disconnect reaches Weir", async () => {
    const leave = new AbortController();
    const reader = (await get("/endless", { signal: leave.signal })).body?.getReader();
    await reader?.read();
    leave.abort();
    await seen.left.promise;
    expect(leave.signal.aborted).toBe(true);
  }, 10_000);

  test("a body over the limit is refused, one under it passes", async () => {
    expect((await get("/upload", { method: "POST", body: new Uint8Array(73 * 1024 * 1024) })).status).toBe(413);
    const answer = await get("/upload", { method: "POST", body: new Uint8Array(65 * 1024 * 1024) });
    expect(await answer.json()).toEqual({ bytes: 65 * 1024 * 1024 });
  }, 30_000);

  test(`a stream that is silent for ${SILENCE_MS / 1000} s survives`, async () => {
    expect(await silent).toBe("event: before\n\nevent: after\n\n");
  }, 90_000);
});

describe.skipIf(!nginx)("deploy/nginx-two-nodes.conf", () => {
  const post = (proxy: Nginx) =>
    fetch(`${proxy.https}/upload`, { method: "POST", body: "once", tls: { rejectUnauthorized: false } });

  test("a node that cannot be reached costs no call: the other one answers", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const port = gone.port ?? 0;
    await gone.stop(true);
    const backend = startBackend();
    const proxy = await startTwoNodes(nginx ?? "", [port, backend.port ?? 0]);
    try {
      const answers = await Promise.all(Array.from({ length: 6 }, () => post(proxy)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    } finally {
      await proxy.stop();
      await backend.stop(true);
    }
  }, 10_000);

  test("a call that a node has received is sent to no other one", async () => {
    let received = 0;
    const dying = Bun.listen({
      port: 0,
      hostname: "127.0.0.1",
      socket: {
        data(socket, bytes) {
          received += bytes.toString().split("POST /upload").length - 1;
          socket.end();
        },
      },
    });
    let served = 0;
    const backend = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(String(++served)) });
    const proxy = await startTwoNodes(nginx ?? "", [dying.port, backend.port ?? 0]);
    try {
      // Of nginx' own start.
      served = 0;
      for (let i = 0; i < 4; i++) await post(proxy);
      expect(received).toBeGreaterThan(0);
      expect(received + served).toBe(4);
    } finally {
      await proxy.stop();
      await backend.stop(true);
      dying.stop(true);
    }
  }, 10_000);
});
