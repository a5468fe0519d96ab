/** Every door to jobs, for the relay's route table. */
import type { TaskDoor } from "./door";
import { batchDoors } from "./batch/doors";
import { midjourneyDoors } from "./midjourney/doors";
import { sunoDoors } from "./suno/doors";
import { videoDoors } from "./video/doors";

export const taskDoors: readonly TaskDoor[] = [...batchDoors, ...midjourneyDoors, ...sunoDoors, ...videoDoors];
