/** Log and dashboard over millions of rows: how long the console's queries take, and whether they slow down streams. */
import { join } from "node:path";
import { DIMENSIONS } from "../../src/shared/dashboard";
import { LOG_TYPE } from "../../src/shared/log";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import type { Engine } from "../../tests/kit/databases";
import type { Session, Weir } from "../../tests/kit/weir";
import { makeBulk } from "../seed/bulk";
import type { Person, SeededChannel } from "../seed/people";
import type { GapResult, GapSpec } from "./steady";
import { median } from "./measure";
import { PACED_MODEL } from "./scenarios";
import { startMeasuredWeir } from "./targets";

const DAY = 86_400;
const DAYS = 90;
const PEOPLE = 40;
const STREAMS = 200;

export interface QuestionTimes {
  question: string;
  /** Milliseconds at the caller, over the rounds. */
  median: number;
  longest: number;
}

export interface Records {
  name: string;
  engine: Engine;
  rows: number;
  questions: QuestionTimes[];
  /** Frames of 200 streams without queries, and while the queries run one after the other. */
  quiet: GapResult;
  asked: GapResult;
}

/** Fills a fresh Weir with `rows` calls, runs 200 streams through it and sends every query `rounds` times. */
export async function measureRecords(
  engine: Engine,
  upstream: string,
  rows: number,
  rounds: number,
  command: readonly string[] | undefined,
  say: (line: string) => void,
): Promise<Records> {
  const target = await startMeasuredWeir(engine, upstream, command);
  try {
    const { weir, key, url, name } = target;
    say(`${rows} rows: ${name}`);
    const end = Math.floor(Date.now() / 1000);
    const { people, channels } = await population(weir);
    await makeBulk(
      { db: weir.db, ledger: createLedger(weir.db, "bench", Date.now) },
      { people, channels, count: rows, seconds: DAYS * DAY, end },
    );
    const questions = await questionsOf(weir.root, end);
    const streams = openStreams({ url: `${url}/v1/chat/completions`, key, model: PACED_MODEL, count: STREAMS });
    try {
      await Bun.sleep(3000);
      await streams.take();
      for (const { ask } of questions) await ask();
      await streams.take();
      await Bun.sleep(8000);
      const quiet = await streams.take();
      const times: QuestionTimes[] = [];
      const started = Date.now();
      for (const { question, ask } of questions) {
        const measured: number[] = [];
        for (let round = 0; round < rounds; round++) {
          const before = performance.now();
          await ask();
          measured.push(performance.now() - before);
        }
        times.push({ question, median: median(measured), longest: Math.max(...measured) });
      }
      // As many frames as in the quiet time, at least.
      while (Date.now() - started < 8000) for (const { ask } of questions) await ask();
      return { name, engine, rows, questions: times, quiet, asked: await streams.take() };
    } finally {
      await streams.stop();
    }
  } finally {
    await target.stop();
  }
}

/** Users with two tokens each, and channels without calls. */
async function population(weir: Weir): Promise<{ people: Person[]; channels: SeededChannel[] }> {
  const channels: SeededChannel[] = [];
  for (const [name, models] of [
    ["one", ["bulk-large", "bulk-small"]],
    ["two", ["bulk-large", "bulk-small"]],
    ["three", ["bulk-chat", "bulk-reasoner"]],
    ["four", ["bulk-long"]],
  ] as const) {
    channels.push({
      id: await weir.newChannel({ name, base_url: "http://127.0.0.1:9", models, status: 2 }),
      name,
      models,
    });
  }
  const people: Person[] = [];
  for (let i = 0; i < PEOPLE; i++) {
    const user = await weir.newUser();
    const tokens = [];
    for (const name of ["production", "notebook"]) tokens.push({ id: (await weir.newToken({ name }, user)).id, name });
    people.push({ id: user.id, username: user.username, group: "default", tokens });
  }
  return { people, channels };
}

interface Question {
  question: string;
  ask: () => Promise<unknown>;
}

/** The queries of the log page and the dashboard. Pages are read by key; the deep one is in the middle of the table. */
async function questionsOf({ trpc }: Session, end: number): Promise<Question[]> {
  const day = { start_timestamp: end - DAY, end_timestamp: end };
  const week = { start_timestamp: end - 7 * DAY, end_timestamp: end };
  const month = { start_timestamp: end - 30 * DAY, end_timestamp: end };
  const all = { start_timestamp: end - DAYS * DAY, end_timestamp: end };
  const zone = { time_zone: "Asia/Shanghai" };
  const limit = 100;
  const [row] = (await trpc.log.list.query({ limit: 1, ...week })).items;
  if (!row) throw new Error("the log is empty");
  const list = (question: string, input: Parameters<typeof trpc.log.list.query>[0]): Question => ({
    question,
    ask: () => trpc.log.list.query({ limit, ...input }),
  });
  return [
    list("log, first page", {}),
    list("log, a page from the middle", { cursor: `${end - 45 * DAY}.0` }),
    list("log of a channel", { channel: row.channel }),
    list("log of a token", { token_id: row.token_id }),
    list("log of a request id", { request_id: row.request_id }),
    list("log of an upstream request id", { upstream_request_id: row.upstream_request_id }),
    list("log of a user, a week", { username: row.username, ...week }),
    list("log of a model by text, a week", { model_name: "long", ...week }),
    list("log by text that nothing has, a day", { model_name: "nothing-like-it", ...day }),
    list("log of a type", { type: LOG_TYPE.error }),
    list("log of a group", { group: "default" }),
    list("log of a group that has none", { group: "nobody's" }),
    list("log of a token's name", { token_name: "production" }),
    { question: "log, page with total", ask: () => trpc.log.page.query({ page_size: limit }) },
    {
      question: "log, keyword that nothing has, 90 days",
      ask: () => trpc.log.page.query({ page_size: limit, keyword: "nothing-like-it", ...all }),
    },
    { question: "log, totals of a day", ask: () => trpc.log.stat.query(day) },
    { question: "log, totals of everything", ask: () => trpc.log.stat.query({}) },
    { question: "log, totals of a user", ask: () => trpc.log.stat.query({ username: row.username }) },
    { question: "log, totals of a model", ask: () => trpc.log.stat.query({ model_name: "long" }) },
    {
      question: "dashboard, a day by model",
      ask: () => trpc.dashboard.view.query({ ...day, ...zone, group_by: "model", granularity: "hour" }),
    },
    {
      question: "dashboard, a week by user",
      ask: () => trpc.dashboard.view.query({ ...week, ...zone, group_by: "user", granularity: "hour" }),
    },
    {
      question: "dashboard, 30 days by model",
      ask: () => trpc.dashboard.view.query({ ...month, ...zone, group_by: "model", granularity: "day" }),
    },
    ...DIMENSIONS.map((group_by): Question => ({
      question: `dashboard, 90 days by ${group_by}`,
      ask: () => trpc.dashboard.view.query({ ...all, ...zone, group_by, granularity: "day" }),
    })),
    {
      question: "dashboard, one user's 30 days",
      ask: () =>
        trpc.dashboard.view.query({ ...month, ...zone, group_by: "model", granularity: "day", username: row.username }),
    },
    {
      question: "dashboard, ranking of 30 days",
      ask: () => trpc.dashboard.ranking.query({ ...month, group_by: "user" }),
    },
  ];
}

/** The streams' process; `take` returns what it measured since the last time. */
function openStreams(spec: GapSpec) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "steady.ts"), JSON.stringify(spec)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  return {
    take: async (): Promise<GapResult> => {
      child.stdin.write("\n");
      await child.stdin.flush();
      let line = "";
      while (!line.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error("the streams' process ended");
        line += value;
      }
      return JSON.parse(line) as GapResult;
    },
    stop: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}
