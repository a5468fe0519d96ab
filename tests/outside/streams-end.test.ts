/**
 * Streams of the console last only as long as their caller's rights, on every instance: the process that serves the
 * stream is not the one where the rights end.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { eq } from "drizzle-orm";
import { LOG_TYPE } from "../../src/shared/log";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { HOOK_MS } from "../kit/harness";
import { type Node, type Nodes, startNodes } from "../kit/trial/nodes";
import { until } from "../kit/until";
import { ROOT, type Session } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

/** Far below what ends a stream without this: the live log's five minutes, the answer's own two. */
const SOON_MS = 5_000;
const MODEL = "endless";
const SILENT = "silent";

/** An upstream that streams for two minutes; of the second model it sends nothing. */
function startEndless() {
  let open = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => {
      open++;
      request.signal.addEventListener("abort", () => open--);
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          try {
            const { model } = (await request.json()) as { model: string };
            if (model === SILENT) return;
            for (let i = 0; i < 1200 && !request.signal.aborted; i++, await Bun.sleep(100)) {
              const choices = [{ index: 0, delta: { role: "assistant", content: "word " }, finish_reason: null }];
              const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: MODEL, choices };
              controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`));
            }
            controller.close();
          } catch {
            // The gateway has hung up.
          }
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, open: () => open, close: () => server.stop(true) };
}

/** One open stream. */
interface Open {
  status: number;
  text(): string;
  over(): boolean;
  leave(): void;
}

async function open(url: string, init: RequestInit): Promise<Open> {
  const leave = new AbortController();
  const response = await fetch(url, { ...init, signal: leave.signal });
  let text = "";
  let over = false;
  void (async () => {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    } catch {
      // Cut.
    }
    over = true;
  })();
  return { status: response.status, text: () => text, over: () => over, leave: () => leave.abort() };
}

describe.each(ENGINES)("a stream of the console on %s", (engine) => {
  let nodes: Nodes;
  let served: Node;
  let upstream: ReturnType<typeof startEndless>;
  beforeAll(async () => {
    upstream = startEndless();
    nodes = await startNodes({ engine, count: 2, hurried: false });
    served = nodes.node(engine === "postgres" ? 1 : 0);
    await nodes.weir.newChannel({ base_url: upstream.url, models: [MODEL, SILENT] });
    await nodes.weir.priceModels({ [MODEL]: 0, [SILENT]: 0 });
  }, HOOK_MS);
  afterAll(async () => {
    await nodes?.stop();
    upstream?.close();
  });

  const live = async (headers: Record<string, string>): Promise<Open> => {
    const stream = await open(`${served.url}/api/log/live`, { headers });
    await until("the live log answers", () => stream.text().includes("data: "));
    return stream;
  };
  const ask = (who: Session, model: string): Promise<Open> => {
    const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hi" }] });
    const headers = { ...who.headers, "content-type": "application/json" };
    return open(`${served.url}/pg/chat/completions`, { method: "POST", headers, body });
  };
  const chat = async (who: Session): Promise<Open> => {
    const stream = await ask(who, MODEL);
    await until("the playground streams", () => stream.text().includes("word") || stream.over());
    expect([stream.status, stream.text()]).toEqual([200, expect.stringContaining("word")]);
    return stream;
  };
  const ends = async (stream: Open): Promise<void> => {
    await until("the stream ends", stream.over, SOON_MS);
  };
  const row = (message: string) =>
    nodes.weir.db.q.insert(nodes.weir.db.t.logs).values({
      created_at: Math.floor(Date.now() / 1000),
      user_id: nodes.weir.root.id,
      username: "root",
      type: LOG_TYPE.system,
      content: message,
      request_id: crypto.randomUUID(),
    });
  const manage = (id: number, action: string) => nodes.weir.root.ok("POST", "/api/user/manage", { id, action });
  const again = (who: Session) => nodes.weir.signIn(who.username, ROOT.password);

  const endings: [string, (who: Session) => Promise<unknown>][] = [
    ["a ban", ({ id }) => manage(id, "disable")],
    ["a deletion", ({ id }) => manage(id, "delete")],
    ["the sign-out", (who) => who.ok("GET", "/api/user/logout")],
    [
      "the end of its session",
      async (who) => {
        const other = await again(who);
        const session = (await other.trpc.auth.sessions.query()).find(({ current }) => !current);
        await other.trpc.auth.endSession.mutate({ id: session?.id ?? 0 });
      },
    ],
    ["the end of all other sessions", async (who) => (await again(who)).trpc.auth.endOtherSessions.mutate()],
    [
      "a new password, set elsewhere by its owner",
      async (who) => (await again(who)).ok("PUT", "/api/user/self", { password: "another-horse-10" }),
    ],
    [
      "a new password, set by an administrator",
      ({ id }) => nodes.weir.root.ok("PUT", "/api/user/", { id, password: "another-horse-10" }),
    ],
  ];
  test.each(endings)("ends with %s: the live log and the playground", async (_, act) => {
    const who = await nodes.weir.newUser({ quota: 1_000_000 });
    const bystander = await nodes.weir.newUser();
    const streams = [await live(who.headers), await chat(who)];
    const other = await live(bystander.headers);
    await act(who);
    for (const stream of streams) await ends(stream);
    expect(other.over()).toBe(false);
    other.leave();
  });

  test("lets its upstream go when it has ended", async () => {
    const who = await nodes.weir.newUser({ quota: 1_000_000 });
    await chat(who);
    await who.ok("GET", "/api/user/logout");
    await until("the upstream is let go", () => upstream.open() === 0);
  });

  test("ends before it has begun: the playground's call that waits for its first word", async () => {
    const who = await nodes.weir.newUser({ quota: 1_000_000 });
    const before = upstream.open();
    let over = false;
    const asked = ask(who, SILENT).then(async (stream) => {
      await until("the answer is over", stream.over);
      over = true;
    });
    await until("the upstream is asked", () => upstream.open() > before);
    await manage(who.id, "disable");
    await until("the call ends", () => over, SOON_MS);
    await asked;
  });

  test("ends with the system access token that opened it", async () => {
    const who = await nodes.weir.newUser();
    const token = await who.ok<string>("GET", "/api/user/token");
    const stream = await live({ authorization: `Bearer ${token}` });
    const own = await live(who.headers);
    await who.ok("GET", "/api/user/token");
    await ends(stream);
    expect(own.over()).toBe(false);
    own.leave();
  });

  test("ends with a demotion, and shows no row of others that was logged after it", async () => {
    const admin = await nodes.weir.newUser({ role: ROLE.admin });
    const stream = await live(admin.headers);
    await row("before the demotion");
    await until("the row is shown", () => stream.text().includes("before the demotion"));
    await manage(admin.id, "demote");
    await row("after the demotion");
    await ends(stream);
    expect(stream.text()).not.toContain("after the demotion");
  });

  test("shows no row after a demotion that the process has not heard of", async () => {
    const { db } = nodes.weir;
    const admin = await nodes.weir.newUser({ role: ROLE.admin });
    const stream = await live(admin.headers);
    await db.q.update(db.t.users).set({ role: ROLE.user }).where(eq(db.t.users.id, admin.id));
    await row("after the silent demotion");
    await ends(stream);
    expect(stream.text()).not.toContain("after the silent demotion");
  });

  test("that is a file is cut where its administrator is demoted, and does not look complete", async () => {
    const { db } = nodes.weir;
    const admin = await nodes.weir.newUser({ role: ROLE.admin });
    // More than the sockets on the way hold.
    const content = "x".repeat(4000);
    for (let batch = 0; batch < 50; batch++)
      await db.q.insert(db.t.logs).values(
        Array.from({ length: 200 }, () => ({
          created_at: Math.floor(Date.now() / 1000),
          user_id: nodes.weir.root.id,
          username: "root",
          type: LOG_TYPE.system,
          content,
          request_id: crypto.randomUUID(),
        })),
      );
    const { hostname, port } = new URL(served.url);
    const socket = connect(Number(port), hostname);
    const headers = Object.entries({ host: "localhost", connection: "close", ...admin.headers });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    socket.write(`GET /api/log/export?format=jsonl HTTP/1.1\r\n${lines}\r\n`);
    let text = "";
    let over = false;
    socket.on("data", (chunk) => {
      const begun = text.includes(content);
      text += chunk.toString("latin1");
      if (!begun && text.includes(content)) socket.pause();
    });
    socket.on("error", () => {});
    socket.on("close", () => (over = true));
    await until("the file begins", () => text.includes(content));
    await manage(admin.id, "demote");
    socket.resume();
    await until("the file ends", () => over);
    expect(text).toStartWith("HTTP/1.1 200");
    expect(text.split(content).length).toBeLessThan(10_000);
    expect(text).not.toEndWith("0\r\n\r\n");
  });

  test("does not end with a change of other facts, nor with a promotion", async () => {
    const who = await nodes.weir.newUser();
    const stream = await live(who.headers);
    await who.ok("PUT", "/api/user/self", { display_name: "Another Name" });
    await manage(who.id, "promote");
    const own = crypto.randomUUID();
    await nodes.weir.db.q.insert(nodes.weir.db.t.logs).values({
      created_at: Math.floor(Date.now() / 1000),
      user_id: who.id,
      username: who.username,
      type: LOG_TYPE.system,
      content: own,
      request_id: own,
    });
    await until("the row is shown", () => stream.text().includes(own));
    expect(stream.over()).toBe(false);
    stream.leave();
  });
});
