/** The systems that can be imported. Another one is one file more, and one entry here. */
import type { System } from "./system";
import { litellm } from "./systems/litellm";
import { newApi } from "./systems/new-api";
import { oneApi } from "./systems/one-api";
import { oneHub } from "./systems/one-hub";
import { weir } from "./systems/weir";

export const SYSTEMS: readonly System[] = [weir, litellm, oneHub, newApi, oneApi];
