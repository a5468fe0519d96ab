/** All routes of jobs, for the relay's route table. */
import type { TaskRoute } from "./route";
import { batchRoutes } from "./batch/routes";
import { midjourneyRoutes } from "./midjourney/routes";
import { sunoRoutes } from "./suno/routes";
import { videoRoutes } from "./video/routes";

export const taskRoutes: readonly TaskRoute[] = [...batchRoutes, ...midjourneyRoutes, ...sunoRoutes, ...videoRoutes];
