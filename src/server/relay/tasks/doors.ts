/** Every door to jobs, for the relay's route table. */
import type { TaskDoor } from "./door";
import { sunoDoors } from "./suno/doors";

export const taskDoors: readonly TaskDoor[] = [...sunoDoors];
