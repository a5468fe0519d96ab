/** Videos as a kind of job: every vendor that makes them, in the order in which a channel's type is looked for. */
import type { TaskPlatform } from "../../../../shared/task";
import type { TaskKind } from "../provider";
import type { VideoAsk } from "./ask";
import { ark } from "./ark";
import { hailuo } from "./hailuo";
import { jimeng } from "./jimeng";
import { kling } from "./kling";
import { videoProvider } from "./provider";
import { replicate } from "./replicate";
import { azureSora, sora } from "./sora";
import { veoGemini, veoVertex } from "./veo";
import { vidu } from "./vidu";
import { wan } from "./wan";

const providers = [
  videoProvider({ platform: "sora", types: ["sora", "openai", "custom"] }, sora),
  videoProvider({ platform: "sora", types: ["azure"] }, azureSora),
  videoProvider({ platform: "kling", types: ["kling"] }, kling),
  videoProvider({ platform: "jimeng", types: ["jimeng"] }, jimeng),
  videoProvider({ platform: "veo", types: ["gemini"], models: /^veo-/ }, veoGemini),
  videoProvider({ platform: "veo", types: ["vertex"], models: /^veo-/ }, veoVertex),
  videoProvider({ platform: "wan", types: ["ali"] }, wan),
  videoProvider({ platform: "doubao", types: ["doubao-video", "volcengine"], tokens: true, sound: /seedance-(?:1-5|[2-9])/ }, ark),
  videoProvider({ platform: "vidu", types: ["vidu"] }, vidu),
  videoProvider({ platform: "hailuo", types: ["minimax"] }, hailuo),
  videoProvider({ platform: "replicate", types: ["replicate"] }, replicate),
];

export const videoKind: TaskKind<VideoAsk> = { operation: "video", enabled: ({ tasks }) => tasks, providers };

/** Whose jobs the doors of videos know. */
export const videoPlatforms: readonly TaskPlatform[] = [...new Set(providers.map(({ platform }) => platform))];
