/** Every kind of job. A provider is a file and a line in its kind; no other code names it. Their routes: routes.ts. */
import type { TaskPlatform } from "../../../shared/task";
import type { TaskWatcher } from "./provider";
import { backgroundResponses } from "./background/response";
import { batches } from "./batch/batch";
import { midjourney } from "./midjourney/provider";
import { suno } from "./suno/suno";
import { videoKind } from "./video/kind";

/** The providers of every kind: they poll, cancel and find the files of a platform's jobs. */
const watchers: readonly TaskWatcher[] = [
  ...backgroundResponses.providers,
  ...batches.providers,
  midjourney,
  ...suno.providers,
  ...videoKind.providers,
];

const byPlatform = new Map<TaskPlatform, TaskWatcher>(watchers.map((watcher) => [watcher.platform, watcher]));

/** undefined: an unknown platform, whose jobs end at their deadline. */
export const watcherOf = (platform: TaskPlatform): TaskWatcher | undefined => byPlatform.get(platform);
