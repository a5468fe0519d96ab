/** Every door to jobs, for the relay's route table. */
import type { TaskRoute } from "./door";
import { batchRoutes } from "./batch/doors";
import { midjourneyRoutes } from "./midjourney/doors";
import { sunoRoutes } from "./suno/doors";
import { videoRoutes } from "./video/doors";

export const taskRoutes: readonly TaskRoute[] = [...batchRoutes, ...midjourneyRoutes, ...sunoRoutes, ...videoRoutes];
