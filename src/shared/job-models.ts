/** Which models are jobs, and of what kind: for forms that submit one. */
import { channelTypes } from "./channel-types";
import { MJ_MODELS } from "./midjourney";
import { videoTariff } from "./video-tariffs";

/** What makes a model a film's: a tariff by length, or a vendor that makes nothing else. */
const filmsOnly: ReadonlySet<string> = new Set(
  channelTypes.filter(({ operations }) => operations.every((operation) => operation === "video")).flatMap(({ models }) => [...models]),
);
const isVideo = (model: string): boolean => videoTariff(model) !== undefined || filmsOnly.has(model);

export const JOB_KINDS = ["drawing", "music", "lyrics", "video"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

const fits: Readonly<Record<JobKind, (model: string) => boolean>> = {
  drawing: (model) => model === MJ_MODELS.IMAGINE,
  music: (model) => model === "suno_music",
  lyrics: (model) => model === "suno_lyrics",
  video: isVideo,
};

/** The models of a kind among those that somebody may call. */
export const modelsOfKind = (kind: JobKind, usable: readonly string[]): string[] => usable.filter(fits[kind]);
