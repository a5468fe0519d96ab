/** The models that make jobs, and of which kind: for forms that submit one. */
import { channelTypes } from "./channel-types";
import { MJ_MODELS } from "./midjourney";
import { videoTariff } from "./video-tariffs";

/** Models of videos: those with a tariff by length, or of a vendor that makes nothing else. */
const videoOnly: ReadonlySet<string> = new Set(
  channelTypes
    .filter(({ operations }) => operations.every((operation) => operation === "video"))
    .flatMap(({ models }) => [...models]),
);
const isVideo = (model: string): boolean => videoTariff(model) !== undefined || videoOnly.has(model);

export const JOB_KINDS = ["drawing", "blend", "describe", "music", "lyrics", "video"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

const fits: Readonly<Record<JobKind, (model: string) => boolean>> = {
  drawing: (model) => model === MJ_MODELS.IMAGINE,
  blend: (model) => model === MJ_MODELS.BLEND,
  describe: (model) => model === MJ_MODELS.DESCRIBE,
  music: (model) => model === "suno_music",
  lyrics: (model) => model === "suno_lyrics",
  video: isVideo,
};

/** The models of a kind among `usable`. */
export const modelsOfKind = (kind: JobKind, usable: readonly string[]): string[] => usable.filter(fits[kind]);

/** Kinds whose jobs are drawings: they are in the list of drawings. */
export const isDrawing = (kind: JobKind): boolean => kind === "drawing" || kind === "blend" || kind === "describe";

/** The input of a kind's job: a prompt, and so many pictures. */
interface JobInput {
  /** "unless": required without pictures. */
  prompt: "needed" | "unless" | "none";
  least: number;
  most: number;
}

/**
 * Blends take two to five pictures, a description takes one (github.com/novicezk/midjourney-proxy docs/api.md, read
 * November 2026). A video begins with its first picture; the meaning of more depends on the model.
 */
export const jobInputs: Readonly<Record<JobKind, JobInput>> = {
  drawing: { prompt: "needed", least: 0, most: 4 },
  blend: { prompt: "none", least: 2, most: 5 },
  describe: { prompt: "none", least: 1, most: 1 },
  music: { prompt: "needed", least: 0, most: 0 },
  lyrics: { prompt: "needed", least: 0, most: 0 },
  video: { prompt: "unless", least: 0, most: 4 },
};
