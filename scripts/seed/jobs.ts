/**
 * Jobs through the book of jobs and the ledger: each accepted, charged, and then finished, failed with its refund, or
 * still running.
 */
import type { Services } from "../../src/server/contracts/context";
import { createTaskStore } from "../../src/server/features/task/task-store";
import { createPriceBook } from "../../src/server/features/pricing/price";
import type { JsonObject } from "../../src/server/lib/json-bytes";
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
  /** What its vendor says to the submit, while it runs, and at the end; `number` counts the jobs of the kind. */
  submitted?: unknown;
  running?(number: number): unknown;
  data(prompt: readonly [prompt: string, english: string], number: number): unknown;
  /** What the provider keeps for itself: a film's address. */
  own?: JsonObject;
}

/** Midjourney's answer to a submit that it took (code 1). */
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
    // What is half done is shown as well.
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
/** A job that runs is asked for no sooner: the fake upstream knows nothing of it. */
const LATER = 24 * 60 * MINUTE;

/** Makes `count` jobs of each kind, the newest some minutes ago. Answers how many there are. */
export async function makeJobs(
  services: Services,
  root: Root,
  people: readonly Person[],
  count: number,
): Promise<number> {
  const taskStore = createTaskStore(services);
  const prices = createPriceBook(services.options);
  const run = randomText(8);
  let made = 0;
  for (const { platform, action, model, channel: fields, prompts, submitted, running, data, own = {} } of KINDS) {
    const [channel] = await root.verbs.channel.create({
      ...fields,
      base_url: "http://127.0.0.1:4000",
      models: model,
      group: "default",
    });
    if (!channel) throw new Error(`no channel for ${model}`);
    for (let i = 0; i < count; i++) {
      const person = people[i % people.length];
      const token = person?.tokens[0];
      const compiled = person && prices.price(model, person.group, person.group);
      if (!person || !token || !compiled) throw new Error(`${model} cannot be called`);
      const price = termsOf(undefined).priced?.(compiled) ?? compiled;
      const priced = { usage: {}, times: { factors: videoFactors(model, {}) } };
      const quota = unitsOf(price, priced);
      const ids = { request_id: `seed-job-${run}-${made++}`, user_id: person.id, token_id: token.id };
      const submit_time_ms = services.now() - (i + 1) * 7 * MINUTE;
      const words = prompts[i % prompts.length] ?? ["", ""];
      const [prompt] = words;
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
      const held = await services.ledger.hold({ ...ids, amount: quota, draft: JSON.stringify(log) });
      if (!held.ok) throw new Error(`${person.username} cannot pay for ${model}`);
      await services.ledger.settle({ ...ids, quota, log });
      await services.ledger.flush();
      await taskStore.answered(task.id, {
        upstream_id: `demo-${run}-${made}`,
        data: submitted,
        state: task.state,
        deadline_ms: task.deadline_ms,
      });
      if (!(await taskStore.activate(task.id, quota, services.now() + LATER)))
        throw new Error("the job was not charged");
      const accepted = await taskStore.find([platform], task_id, person.id);
      if (!accepted) throw new Error("the job is gone");
      const start_time_ms = submit_time_ms + 4_000;
      const end = {
        start_time_ms,
        finish_time_ms: start_time_ms + (i % 2 ? 95 : 38) * 1000,
        progress: "100%",
        data: data(words, i),
      };
      const fate = FATES[i % FATES.length];
      if (fate === "finished") await taskStore.succeed(accepted, "SUBMITTED", quota, end);
      else if (fate === "failed")
        await taskStore.fail(accepted, "SUBMITTED", "The prompt was rejected by moderation.", {
          start_time_ms,
          finish_time_ms: end.finish_time_ms,
        });
      else
        await taskStore.note(accepted, "SUBMITTED", {
          status: "IN_PROGRESS",
          progress: "45%",
          start_time_ms,
          ...(running && { data: running(i) }),
        });
    }
  }
  return made;
}
