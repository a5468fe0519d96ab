/**
 * The data of `bun run seed demo` is complete: its jobs have files, its channels are in every state, its ledger
 * balances.
 */
import { expect, test } from "bun:test";
import { makeJobs } from "../../scripts/seed/jobs";
import { makeChannels, makeMoreChannels, makePeople, makeRoot } from "../../scripts/seed/people";
import { audit } from "../../src/server/features/wallet/audit";
import { createControlPlane } from "../../src/server/wiring/control-plane";
import { createRelay } from "../../src/server/relay/entry/handle";
import type { TaskPlatform } from "../../src/shared/task";
import { HOOK_MS, openHarness } from "../kit/harness";

test(
  "the demo's finished jobs have files that this server shows by itself, and every drawing says that it was submitted",
  async () => {
    const h = await openHarness("sqlite");
    try {
      const { services } = h;
      const root = await makeRoot(services, () => {});
      const people = await makePeople(services, root, 2, () => {});
      expect(await makeJobs(services, root, people, 4)).toBe(12);
      const drawings = (await root.verbs.midjourney.list({})).items;
      expect(drawings.map(({ status, code, image_url }) => [status, code, image_url !== ""])).toEqual([
        ["SUCCESS", 1, true],
        ["FAILURE", 1, false],
        ["SUCCESS", 1, true],
        ["IN_PROGRESS", 1, true],
      ]);
      const taskService = createRelay(createControlPlane(services), { log: services.log }).tasks;
      const typesOf = async (platform: TaskPlatform, task_id: string) => {
        const access = { platform, task_id, user_id: undefined };
        const kinds = await taskService.files(access);
        const files = await Promise.all(
          kinds.map((_, index) => taskService.file({ ...access, index }, new Request("http://weir.test/"), "r", "en")),
        );
        return files.map((file) => [file.status, file.headers.get("content-type")]);
      };
      for (const { mj_id, status } of drawings) {
        expect(await typesOf("mj", mj_id)).toEqual(status === "FAILURE" ? [] : [[200, "image/png"]]);
      }
      const tasks = (await root.verbs.task.list({})).items.filter(({ status }) => status === "SUCCESS");
      const shown = await Promise.all(
        tasks.map(async ({ platform, task_id }) => [platform, ...(await typesOf(platform as TaskPlatform, task_id))]),
      ); // made by this test
      expect(shown.toSorted()).toEqual([
        ["kling", [200, "video/webm"]],
        ["kling", [200, "video/webm"]],
        ["suno", [200, "audio/wav"], [200, "image/png"]],
        ["suno", [200, "audio/wav"], [200, "image/png"]],
      ]);
      expect(await Array.fromAsync(audit(services.db))).toEqual([]);
    } finally {
      await h.close();
    }
  },
  HOOK_MS,
);

test(
  "the demo's channels are enabled, switched off by hand, and switched off by the system with its reason",
  async () => {
    const h = await openHarness("sqlite");
    try {
      const root = await makeRoot(h.services, () => {});
      await makeMoreChannels(h.services, root, await makeChannels(h.services, root));
      const { items } = await root.verbs.channel.list({ page_size: 20 });
      expect([1, 2, 3].map((status) => items.filter((channel) => channel.status === status).length)).toEqual([5, 1, 1]);
      expect(items.find(({ status }) => status === 3)?.other_info).toContain("invalid x-api-key");
      expect([...new Set(items.map(({ tag }) => tag))].toSorted()).toEqual(["", "claude", "gpt"]);
      const pool = items.find(({ multi_key_mode }) => multi_key_mode !== "");
      expect(await root.verbs.channel.keys({ id: pool?.id ?? 0 })).toHaveLength(3);
    } finally {
      await h.close();
    }
  },
  HOOK_MS,
);
