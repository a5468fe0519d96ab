/**
 * Calls of every kind besides chat, for trials: embeddings, images, speech, realtime sessions, background responses,
 * batches and songs; and money that comes in, by codes and by reports of a payment gateway. One vendor serves all of
 * them; what a call must have cost follows from what the vendor answered and what the caller received.
 */
import { EPAY_MERCHANT, startFakeEpay } from "../fake-pay/epay";
import type { Expected } from "./book";
import type { Node } from "./nodes";
import type { Random } from "./random";
import type { Testbed } from "./testbed";

/** Units of what has one price; every token costs one unit. */
const FIXED = 5000;
const SONG = 7000;
const CODE = 1_000;
const ORDER = 500_000;
/** A batch line of the vendor, at half price. */
const LINES = 3;
const LINE_TOKENS = 120;
/** The most that a call without its vendor's count may be estimated at. */
const MOST_ESTIMATED = 20_000;
const LIMIT_MS = 20_000;

const PLAIN = ["embeddings", "images", "speech"] as const;
const JOBS = ["background", "batch", "song"] as const;
const KINDS = [...PLAIN, ...JOBS, "realtime", "code", "order"] as const;
type Kind = (typeof KINDS)[number];
const modelOf = (kind: Kind): string => (kind === "song" ? "suno_music" : `trial-${kind}`);

/** Tokens that the vendor counts for a call of this number. */
const tokensOf = (call: number): number => 100 + (call % 700);

export interface PlannedKind {
  kind: Kind;
  node: number;
  token: number;
  /** Milliseconds before the vendor answers, or a job is done. */
  slowMs: number;
  /** A song that the vendor fails. */
  fails: boolean;
}

export const randomKind = (random: Random): PlannedKind => ({
  kind: random.pick(KINDS),
  node: random.whole(0, 5),
  token: random.whole(0, 5),
  slowMs: random.pick([0, 20, 150, 600]),
  fails: random.chance(0.3),
});

export interface AllKinds {
  /** A round begins: its calls are compared at the round's end. */
  begin(): void;
  /** Makes one call, or takes one payment. Never rejects. */
  make(planned: PlannedKind): Promise<void>;
  /** Once everything is mended: repeats what was left without an answer, as its sender would. */
  repeat(): Promise<void>;
  stop(): Promise<void>;
}

/** What one caller knows afterwards. */
interface Made {
  call: number;
  kind: Kind;
  words: string;
  /** The whole answer has arrived; of a job: its id. */
  whole: boolean;
  /** Realtime: responses that were asked for, and those that were received whole. */
  begun: number;
  done: number;
}

/** What the vendor knows of one call. */
interface Answered {
  planned: PlannedKind;
  /** So many answers were begun. */
  answers: number;
}

/** Opens vendor, channels and prices on a testbed. */
export async function openAllKinds(bed: Testbed): Promise<AllKinds> {
  const { nodes } = bed;
  const { weir } = nodes;
  const answered = new Map<number, Answered>();
  const vendor = startVendor(answered);
  const epay = startFakeEpay();
  const token_models = ["embeddings", "background", "batch", "realtime"] as const;
  await weir.setOption("ModelPrice", {
    // Per call, in dollars of 500,000 units.
    [modelOf("images")]: FIXED / 500_000,
    [modelOf("speech")]: FIXED / 500_000,
    [modelOf("song")]: SONG / 500_000,
  });
  await bed.price(token_models.map(modelOf));
  for (const key of ["AudioRatio", "AudioCompletionRatio", "CacheRatio"])
    await weir.setOption(key, { [modelOf("realtime")]: 1 });
  const setting = { native_calls: "always", allow_files: true, allow_batches: true };
  await weir.newChannel({
    base_url: vendor.url,
    models: KINDS.filter((kind) => !["song", "code", "order"].includes(kind)).map(modelOf),
    setting: JSON.stringify(setting),
  });
  await weir.newChannel({ type: 36, base_url: vendor.url, models: [modelOf("song")] });
  for (const [key, value] of Object.entries({
    ServerAddress: "https://weir.example",
    PayAddress: epay.url,
    EpayId: EPAY_MERCHANT.pid,
    EpayKey: EPAY_MERCHANT.key,
  }))
    await weir.setOption(key, value);
  const codes = await weir.root.ok<string[]>("POST", "/api/redemption/", { name: "t", count: 100, quota: CODE });

  let made: Made[] = [];
  /** Money whose sender has had no answer yet. */
  const unanswered = new Set<(node: Node) => Promise<boolean>>();
  const at = (planned: PlannedKind): Node => nodes.node(planned.node % nodes.all.length);
  const post = async (node: Node, path: string, key: string, address: string, body: object | FormData) => {
    const form = body instanceof FormData;
    return fetch(node.url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "x-forwarded-for": address,
        ...(!form && { "content-type": "application/json" }),
      },
      body: form ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
  };

  interface Asked {
    success?: boolean;
    code?: string;
    data?: { out_trade_no?: string; money?: string };
  }
  /** A call of the console's routes, as the user. */
  const ask = async (node: Node, path: string, body: object): Promise<Asked> => {
    const answer = await fetch(node.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...bed.user.headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    return (await answer.json()) as Asked;
  };

  /** Redeems a code, or reports a payment: true once it has been taken. */
  async function takeMoney(planned: PlannedKind): Promise<boolean> {
    if (planned.kind === "code") {
      const code = codes.shift();
      if (code === undefined) return true;
      bed.give(CODE);
      const redeem = async (node: Node): Promise<boolean> => {
        const { success, code: why } = await ask(node, "/api/user/topup", { key: code });
        // A code that was used is not valid any more.
        return success === true || why === "redemption_invalid";
      };
      unanswered.add(redeem);
      // Three at once: one is credited.
      const taken = await Promise.all([1, 2, 3].map(() => redeem(at(planned)).catch(() => false)));
      if (taken.some(Boolean)) unanswered.delete(redeem);
      return taken.some(Boolean);
    }
    const ordered = await ask(at(planned), "/api/user/pay", { amount: 1, payment_method: "alipay" }).catch(
      () => undefined,
    );
    const form = ordered?.data;
    if (!form?.out_trade_no) return true;
    const trade_no = form.out_trade_no;
    epay.pay({ trade_no, money: form.money ?? "", type: "alipay" });
    bed.give(ORDER);
    const report = async (node: Node): Promise<boolean> =>
      (await (await fetch(`${node.url}/api/user/epay/notify?${epay.report(trade_no)}`)).text()) === "success";
    unanswered.add(report);
    const taken = await Promise.all([1, 2, 3].map(() => report(at(planned)).catch(() => false)));
    if (taken.some(Boolean)) unanswered.delete(report);
    return taken.some(Boolean);
  }

  async function makeCall(planned: PlannedKind): Promise<Made> {
    const { kind } = planned;
    const { call, key, address } = bed.newCall(planned.token);
    const one: Made = { call, kind, words: `call ${call} (${kind})`, whole: false, begun: 0, done: 0 };
    made.push(one);
    answered.set(call, { planned, answers: 0 });
    const node = at(planned);
    const [model, prompt] = [modelOf(kind), `call number ${call}.`];
    const send = (path: string, body: object | FormData) => post(node, path, key, address, body);
    try {
      if (kind === "realtime") await talk(node, key, address, model, one);
      else if (kind === "batch") {
        const form = new FormData();
        form.set("purpose", "batch");
        const line = (n: number) => ({
          custom_id: `${n}`,
          method: "POST",
          url: "/v1/chat/completions",
          body: { model, messages: [{ role: "user", content: prompt }], max_tokens: 500 },
        });
        const lines = Array.from({ length: LINES }, (_, n) => JSON.stringify(line(n))).join("\n");
        form.set("file", new File([lines], "in.jsonl", { type: "application/jsonl" }));
        const { id } = (await (await send("/v1/files", form)).json()) as { id: string };
        const body = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" };
        const answer = await send("/v1/batches", { ...body, metadata: { call: prompt } });
        one.whole = answer.ok && typeof ((await answer.json()) as { id?: unknown }).id === "string";
      } else {
        const [path, body]: [string, object] = {
          embeddings: ["/v1/embeddings", { model, input: prompt }] as [string, object],
          images: ["/v1/images/generations", { model, prompt, n: 1 }] as [string, object],
          speech: ["/v1/audio/speech", { model, input: prompt, voice: "alloy" }] as [string, object],
          background: ["/v1/responses", { model, input: prompt, background: true, max_output_tokens: 2000 }] as [
            string,
            object,
          ],
          song: ["/suno/submit/music", { prompt }] as [string, object],
        }[kind as "embeddings" | "images" | "speech" | "background" | "song"];
        const answer = await send(path, body);
        const bytes = await answer.arrayBuffer();
        one.whole = answer.status === 200 && bytes.byteLength > 0;
      }
    } catch {
      // Refused, or cut off by a kill.
    }
    return one;
  }

  return {
    begin: () => {
      const own: Made[] = (made = []);
      bed.alsoExpect(() => own.map((one) => expectationOf(one, answered.get(one.call))));
    },
    make: async (planned) => {
      for (let tries = 0; !at(planned).isRunning && tries < 500; tries++) await Bun.sleep(20);
      if (planned.kind === "code" || planned.kind === "order") {
        const taken = await takeMoney(planned);
        return bed.note(`payments by ${planned.kind}`, taken ? "taken" : "without an answer");
      }
      const { whole, done } = await makeCall(planned);
      bed.note(`calls of ${planned.kind}`, whole || done > 0 ? "answered" : "without an answer");
    },
    repeat: async () => {
      for (const send of unanswered) if (await send(nodes.node(0)).catch(() => false)) unanswered.delete(send);
    },
    stop: async () => {
      vendor.stop();
      await epay.stop();
    },
  };
}

/** A session of three responses, one after the other. */
async function talk(node: Node, key: string, address: string, model: string, one: Made): Promise<void> {
  const Socket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => Bun.WebSocket;
  const url = `${node.url.replace("http", "ws")}/v1/realtime?model=${model}`;
  const socket = new Socket(url, { headers: { authorization: `Bearer ${key}`, "x-forwarded-for": address } });
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(() => socket.close(), LIMIT_MS);
  const next = (): void => {
    if (one.begun === 3) return socket.close();
    one.begun++;
    socket.send(JSON.stringify({ type: "response.create", response: { instructions: `call number ${one.call}.` } }));
  };
  socket.onopen = next;
  socket.onmessage = ({ data }) => {
    if (!String(data).includes('"response.done"')) return;
    one.done++;
    next();
  };
  socket.onclose = () => over.resolve();
  socket.onerror = () => over.resolve();
  await over.promise;
  clearTimeout(timer);
  one.whole = one.done === 3;
}

function expectationOf({ call, kind, words, whole, begun, done }: Made, vendor: Answered | undefined): Expected {
  const asked = (vendor?.answers ?? 0) > 0;
  const tokens = tokensOf(call);
  const says = `${words}; vendor ${asked ? "answered" : "not asked"}; ${whole ? "answered whole" : "not answered whole"}`;
  if (kind === "realtime")
    return { call, least: done * tokens, most: begun * (tokens + MOST_ESTIMATED), rows: begun, words: says };
  const price =
    kind === "embeddings" || kind === "background"
      ? tokens
      : kind === "batch"
        ? (LINES * LINE_TOKENS) / 2
        : kind === "song"
          ? SONG
          : FIXED;
  if (!asked) return { call, least: 0, most: 0, words: says };
  // A failed song is given back; so is a job whose vendor's answer was lost with the process.
  if (kind === "song" && vendor?.planned.fails) return { call, least: 0, most: 0, words: says };
  if (whole) return { call, least: price, most: price, words: says };
  const isJob = JOBS.some((job) => job === kind);
  return { call, least: 0, most: isJob ? price : Math.max(price, MOST_ESTIMATED), words: says };
}

interface Job {
  call: number;
  doneAt: number;
}

/** The vendor of all kinds. */
function startVendor(answered: Map<number, Answered>): { url: string; stop(): void } {
  const jobs = new Map<string, Job>();
  const files = new Map<string, string>();
  const callIn = (text: string): number => Number(/call number (\d+)/.exec(text)?.[1] ?? Number.NaN);
  const begin = async (text: string): Promise<number> => {
    const call = callIn(text);
    const entry = answered.get(call);
    if (!entry) return call;
    entry.answers++;
    await Bun.sleep(entry.planned.slowMs);
    return call;
  };
  const newJob = (prefix: string, call: number): string => {
    const id = `${prefix}${jobs.size + 1}`;
    jobs.set(id, { call, doneAt: Date.now() + (answered.get(call)?.planned.slowMs ?? 0) });
    return id;
  };
  const isDone = (job: Job): boolean => Date.now() >= job.doneAt;
  const usageOf = (call: number) => ({
    input_tokens: 50,
    output_tokens: tokensOf(call) - 50,
    total_tokens: tokensOf(call),
  });
  const response = (id: string, job: Job) => ({
    id,
    object: "response",
    created_at: 1,
    background: true,
    model: modelOf("background"),
    error: null,
    status: isDone(job) ? "completed" : "queued",
    output: isDone(job) ? [{ type: "message", id: "m", role: "assistant", status: "completed", content: [] }] : [],
    usage: isDone(job) ? usageOf(job.call) : null,
  });
  const batch = (id: string, job: Job) => ({
    id,
    object: "batch",
    endpoint: "/v1/chat/completions",
    errors: null,
    input_file_id: "file-1",
    completion_window: "24h",
    created_at: 1,
    status: isDone(job) ? "completed" : "in_progress",
    output_file_id: isDone(job) ? `out-${id}` : null,
    request_counts: { total: LINES, completed: isDone(job) ? LINES : 0, failed: 0 },
  });
  const outputLine = JSON.stringify({
    id: "b",
    custom_id: "0",
    error: null,
    response: {
      status_code: 200,
      body: {
        choices: [],
        usage: { prompt_tokens: 20, completion_tokens: LINE_TOKENS - 20, total_tokens: LINE_TOKENS },
      },
    },
  });
  const clip = { id: "c", title: "t", status: "complete", audio_url: "https://cdn.example/a.mp3", metadata: {} };
  const song = (id: string, job: Job) => {
    const status = !isDone(job) ? "IN_PROGRESS" : answered.get(job.call)?.planned.fails ? "FAILURE" : "SUCCESS";
    return { task_id: id, status, progress: "50%", fail_reason: "no", data: isDone(job) ? [clip] : null };
  };
  const found = <T>(kind: (id: string, job: Job) => T, id: string): Response => {
    const job = jobs.get(id);
    return job ? Response.json(kind(id, job)) : Response.json({ error: { message: "not found" } }, { status: 404 });
  };

  const server = Bun.serve<{ sent: number }>({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request, self) {
      const { pathname } = new URL(request.url);
      const [, , name = "", id = "", content] = pathname.split("/");
      if (name === "realtime")
        return self.upgrade(request, { data: { sent: 0 } }) ? undefined : new Response("", { status: 400 });
      if (request.method === "GET" && name === "files" && content === "content")
        return new Response(id.startsWith("out-") ? Array(LINES).fill(outputLine).join("\n") : (files.get(id) ?? ""));
      if (request.method === "GET" && name === "responses") return found(response, id);
      if (request.method === "GET" && name === "batches") return found(batch, id);
      const text = await request.text();
      if (name === "files") {
        const file = `file-${files.size + 1}`;
        files.set(file, text.split("\r\n\r\n").at(-1)?.split("\r\n--")[0] ?? "");
        const facts = { bytes: 10, created_at: 1, filename: "in.jsonl", purpose: "batch", status: "processed" };
        return Response.json({ id: file, object: "file", ...facts });
      }
      if (pathname === "/suno/fetch") {
        const { ids } = JSON.parse(text) as { ids: string[] };
        const data = ids.flatMap((one) => {
          const job = jobs.get(one);
          return job ? [song(one, job)] : [];
        });
        return Response.json({ code: "success", message: "", data });
      }
      const call = await begin(text);
      const tokens = tokensOf(call);
      if (pathname.startsWith("/suno/submit"))
        return Response.json({ code: "success", message: "", data: newJob("song-", call) });
      if (name === "responses") {
        const made = newJob("resp_", call);
        return found(response, made);
      }
      if (name === "batches") return found(batch, newJob("batch_", call));
      if (name === "embeddings")
        return Response.json({
          object: "list",
          model: modelOf("embeddings"),
          data: [{ object: "embedding", index: 0, embedding: [0.1] }],
          usage: { prompt_tokens: tokens, total_tokens: tokens },
        });
      if (name === "images") return Response.json({ created: 1, data: [{ b64_json: "AAAA" }] });
      return new Response("sound", { headers: { "content-type": "audio/mpeg" } });
    },
    websocket: {
      open: (ws) => void ws.send(JSON.stringify({ type: "session.created", session: { object: "realtime.session" } })),
      async message(ws, frame) {
        const text = String(frame);
        if (!text.includes('"response.create"')) return;
        const id = `resp_${++ws.data.sent}`;
        const event = (type: string, more: object): void =>
          void ws.send(JSON.stringify({ type, event_id: "e", ...more }));
        event("response.created", { response: { id, status: "in_progress", output: [], usage: null } });
        event("response.output_audio_transcript.delta", { response_id: id, delta: "hello" });
        const call = await begin(text);
        event("response.done", { response: { id, status: "completed", output: [], usage: usageOf(call) } });
      },
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => void server.stop(true) };
}
