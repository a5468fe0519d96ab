/**
 * A rolling change from this release to the one before and back. It begins with this release, because the one before
 * serves on its schema and not the other way round.
 */
import { buildRelease } from "../../../scripts/build-release";
import releases from "../../../scripts/releases.json" with { type: "json" };
import type { Experiment } from "./lab";
import { rollingChange } from "./rolling";

export const experiment: Experiment = {
  what: "a rolling change to the release before and back under load, both on one database",
  run: async (lab) => {
    const { version = "" } = releases.at(-1) ?? {};
    await rollingChange(lab, { name: version, command: [await buildRelease(version)] });
  },
};
