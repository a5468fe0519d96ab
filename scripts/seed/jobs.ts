/**
 * Jobs through the task store and the ledger: each accepted, charged, and then finished, failed with its refund, or
 * still running.
 */
import type { Services } from "../../src/server/contracts/context";
import { WALLET } from "../../src/server/contracts/ledger";
import { createTaskStore } from "../../src/server/features/task/task-store";
import { createPrices } from "../../src/server/features/pricing/price";
import type { JsonObject } from "../../src/server/lib/json-bytes";
import { requestIdTime } from "../../src/server/http/request-id";
import { packPrice, termsOf, unitsOf } from "../../src/server/relay/tasks/price";
import { randomText } from "../../src/server/lib/secrets";
import { MJ_CODE } from "../../src/shared/midjourney";
import type { TaskPlatform } from "../../src/shared/task";
import { videoFactors } from "../../src/shared/video-tariffs";
import { film, picture, song } from "./media";
import type { Person, Root } from "./people";

interface Kind {
  platform: TaskPlatform;
  action: string;
  model: string;
  channel: { type: number; name: string; key: string };
  /** As written, and in English. */
  prompts: readonly (readonly [prompt: string, english: string])[];
  /** The vendor's answer to the submit, while it runs, and at the end; `number` counts the jobs of the kind. */
  submitted?: unknown;
  running?(number: number): unknown;
  data(prompt: readonly [prompt: string, english: string], number: number): unknown;
  /** The provider's own state: a film's address. */
  own?: JsonObject;
}

/** Midjourney's answer to a submit that it accepted (code 1). */
const DRAWING = { code: MJ_CODE.submitted, description: "提交成功", properties: {} };

const KINDS: readonly Kind[] = [
  {
    platform: "mj",
    action: "IMAGINE",
    model: "mj_imagine",
    channel: { type: 2, name: "Midjourney", key: "mj-demo" },
    prompts: [
      ["雨后黄昏的山", "hills at dusk after the rain"],
      ["sunrise over a quiet lake --ar 1:1", "sunrise over a quiet lake --ar 1:1"],
    ],
    submitted: DRAWING,
    // The console shows pictures that are half done.
    running: (number) => ({ ...DRAWING, task: { imageUrl: picture(number) } }),
    data: ([, promptEn], number) => ({ ...DRAWING, task: { promptEn, imageUrl: picture(number) } }),
  },
  {
    platform: "suno",
    action: "MUSIC",
    model: "suno_music",
    channel: { type: 36, name: "Suno", key: "suno-demo" },
    prompts: [
      ["城市灯火，民谣", "city lights, folk"],
      ["slow rain on a tin roof", "slow rain on a tin roof"],
    ],
    data: ([title], number) => [
      { id: "clip-1", title, status: "complete", audio_url: song(), image_url: picture(number) },
    ],
  },
  {
    platform: "kling",
    action: "textGenerate",
    model: "kling-v1",
    channel: { type: 50, name: "Kling", key: "demo-access|demo-secret" },
    prompts: [
      ["太阳从海上升起", "the sun rises from the sea"],
      ["the moon over a bridge", "the moon over a bridge"],
    ],
    data: () => ({ files: [film()] }),
    own: { files: [film()] },
  },
];
const FATES = ["finished", "failed", "finished", "running"] as const;
const MINUTE = 60_000;
/** A job that runs is not polled before this: the fake upstream does not have it. */
const LATER = 24 * 60 * MINUTE;

/** What all jobs of one run share. */
interface Run {
  services: Services;
  taskStore: ReturnType<typeof createTaskStore>;
  prices: ReturnType<typeof createPrices>;
  /** Part of every id, so that several runs fit into one database. */
  name: string;
  made: number;
}

type Channel = Awaited<ReturnType<Root["verbs"]["channel"]["create"]>>[number];
type Task = NonNullable<Awaited<ReturnType<Run["taskStore"]["open"]>>>;

/** Makes `count` jobs of each kind, the newest some minutes ago. Returns how many there are. */
export async function makeJobs(
  services: Services,
  root: Root,
  people: readonly Person[],
  count: number,
): Promise<number> {
  const run: Run = {
    services,
    taskStore: createTaskStore(services),
    prices: createPrices(services.options),
    name: randomText(8),
    made: 0,
  };
  for (const kind of KINDS) {
    const [channel] = await root.verbs.channel.create({
      ...kind.channel,
      base_url: "http://127.0.0.1:4000",
      models: kind.model,
      group: "default",
    });
    if (!channel) throw new Error(`no channel for ${kind.model}`);
    for (let i = 0; i < count; i++) {
      const person = people[i % people.length];
      if (!person) throw new Error("there are no people");
      const { task, quota } = await acceptJob(run, kind, channel, person, i);
      await endJob(run, kind, task, quota, i);
    }
  }
  return run.made;
}

/** Opens the task, holds and settles its charge, and activates it: the order of relay/tasks/submit.ts. */
async function acceptJob(
  run: Run,
  kind: Kind,
  channel: Channel,
  person: Person,
  number: number,
): Promise<{ task: Task; quota: number }> {
  const { services, taskStore } = run;
  const { platform, action, model, own = {} } = kind;
  const [token] = person.tokens;
  const compiled = run.prices.price(model, person.group, person.group);
  if (!token || !compiled) throw new Error(`${model} cannot be called`);
  const price = termsOf(undefined).priced?.(compiled) ?? compiled;
  const priced = { usage: {}, times: { factors: videoFactors(model, {}) } };
  const quota = unitsOf(price, priced);
  const submit_time_ms = services.now() - (number + 1) * 7 * MINUTE;
  const time = requestIdTime(Math.floor(submit_time_ms / 1000));
  const request_id = `${time}${String(run.made++).padStart(9, "0")}${run.name}`;
  const ids = { request_id, user_id: person.id, token_id: token.id };
  const [prompt] = promptOf(kind, number);
  const task_id = `task_${randomText(32)}`;
  const task = await taskStore.open({
    task_id,
    platform,
    action,
    model,
    prompt,
    submit_time_ms,
    user_id: person.id,
    username: person.username,
    token_id: token.id,
    group: person.group,
    channel_id: channel.id,
    channel_key_id: 0,
    parent_id: "",
    charge_id: ids.request_id,
    client_key: undefined,
    input: { prompt },
    next_poll_at_ms: services.now() + LATER,
    deadline_ms: submit_time_ms + 2 * LATER,
    state: {
      units: quota,
      price: packPrice(price),
      priced,
      budgets: [],
      lang: "zh",
      input_hash: "",
      fails: 0,
      own,
    },
  });
  if (!task) throw new Error("the job was not kept");
  const log = {
    ...ids,
    quota,
    created_at: Math.floor(submit_time_ms / 1000),
    username: person.username,
    token_name: token.name,
    group: person.group,
    model_name: model,
    channel: channel.id,
    channel_name: channel.name,
    end_reason: "complete",
    other: JSON.stringify({ task_id }),
  };
  const held = await services.ledger.hold({ ...ids, sources: WALLET, amount: quota, draft: JSON.stringify(log) });
  if (!held.ok) throw new Error(`${person.username} cannot pay for ${model}`);
  await services.ledger.settle({ ...ids, quota, log });
  await services.ledger.flush();
  await taskStore.answered(task.id, {
    upstream_id: `demo-${run.name}-${run.made}`,
    data: kind.submitted,
    state: task.state,
    deadline_ms: task.deadline_ms,
  });
  if (!(await taskStore.activate(task.id, quota, services.now() + LATER))) throw new Error("the job was not charged");
  const accepted = await taskStore.find([platform], task_id, person.id);
  if (!accepted) throw new Error("the job is gone");
  return { task: accepted, quota };
}

/** Finishes or fails an accepted job, or leaves it running: FATES in turn. */
async function endJob({ taskStore }: Run, kind: Kind, task: Task, quota: number, number: number): Promise<void> {
  const start_time_ms = task.submit_time_ms + 4_000;
  const finish_time_ms = start_time_ms + (number % 2 ? 95 : 38) * 1000;
  const fate = FATES[number % FATES.length];
  if (fate === "finished")
    await taskStore.succeed(task, "SUBMITTED", quota, {
      start_time_ms,
      finish_time_ms,
      progress: "100%",
      data: kind.data(promptOf(kind, number), number),
    });
  else if (fate === "failed")
    await taskStore.fail(task, "SUBMITTED", "The prompt was rejected by moderation.", {
      start_time_ms,
      finish_time_ms,
    });
  else
    await taskStore.note(task, "SUBMITTED", {
      status: "IN_PROGRESS",
      progress: "45%",
      start_time_ms,
      ...(kind.running && { data: kind.running(number) }),
    });
}

const promptOf = ({ prompts }: Kind, number: number) => prompts[number % prompts.length] ?? (["", ""] as const);
