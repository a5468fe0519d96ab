/**
 * Every kind of job. A provider is a file and a line in its kind; nothing else in the house names it. Their doors:
 * doors.ts.
 */
import type { TaskPlatform } from "../../../shared/task";
import type { TaskWatcher } from "./provider";
import { backgroundResponses } from "./background/response";
import { batches } from "./batch/batch";
import { midjourney } from "./midjourney/provider";
import { suno } from "./suno/suno";
import { videoKind } from "./video/kind";

/** Who polls, cancels and finds the files of a platform's jobs: the providers of every kind. */
const watchers: readonly TaskWatcher[] = [
  ...backgroundResponses.providers,
  ...batches.providers,
  midjourney,
  ...suno.providers,
  ...videoKind.providers,
];

const byPlatform = new Map<TaskPlatform, TaskWatcher>(watchers.map((watcher) => [watcher.platform, watcher]));

/** undefined: nobody knows the platform any more; its jobs end at their deadline. */
export const watcherOf = (platform: TaskPlatform): TaskWatcher | undefined => byPlatform.get(platform);
