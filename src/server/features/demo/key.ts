import type { Secrets } from "../../lib/secrets";

/**
 * The key of the demo channel: derived from the master secret, so it is the same on every instance and after a restart.
 */
export const demoKey = (secrets: Pick<Secrets, "hash">): string =>
  `demo-${secrets.hash("demo-upstream", "weir").slice(0, 40)}`;
