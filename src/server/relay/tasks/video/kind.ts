/** Videos as a kind of job: all vendors, in the order in which a channel's type is looked up. */
import type { TaskPlatform } from "../../../../shared/task";
import type { TaskKind } from "../provider";
import type { VideoRequest } from "./ask";
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
  videoProvider({ platform: "sora" }, [
    ["sora", sora],
    ["openai", sora],
    ["azure", azureSora],
  ]),
  videoProvider({ platform: "kling" }, [["kling", kling]]),
  videoProvider({ platform: "jimeng" }, [["jimeng", jimeng]]),
  videoProvider({ platform: "veo", models: /^veo-/ }, [
    ["gemini", veoGemini],
    ["vertex", veoVertex],
  ]),
  videoProvider({ platform: "wan" }, [["ali", wan]]),
  videoProvider({ platform: "doubao", tokens: true, sound: /seedance-(?:1-5|[2-9])/ }, [
    ["doubao-video", ark],
    ["volcengine", ark],
  ]),
  videoProvider({ platform: "vidu" }, [["vidu", vidu]]),
  videoProvider({ platform: "hailuo" }, [["minimax", hailuo]]),
  videoProvider({ platform: "replicate" }, [["replicate", replicate]]),
];

export const videoKind: TaskKind<VideoRequest> = { operation: "video", enabled: ({ tasks }) => tasks, providers };

/** The platforms whose jobs the video routes can see. */
export const videoPlatforms: readonly TaskPlatform[] = [...new Set(providers.map(({ platform }) => platform))];
