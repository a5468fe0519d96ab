/** Every certified client, in the order of the page. */
import type { Client } from "./client";
import { commandClients } from "./commands";
import { pythonSdks } from "./pythons";
import { sdks } from "./sdks";

export const clients: readonly Client[] = [...commandClients, ...sdks, ...pythonSdks];
