/** Rotating a channel's key: the new one is tested, both serve for a while, then the old one does not any more. */
import * as z from "zod";

/** A week. */
export const OVERLAP_MINUTES_MAX = 7 * 24 * 60;
export const OVERLAP_MINUTES = 10;

export const keyRotateInput = z.object({
  id: z.int().positive(),
  /** The new key. */
  key: z.string().min(1).max(200_000),
  /** Of the key that it replaces, where the channel has several. */
  key_id: z.int().positive().optional(),
  /** Both serve for so long; 0 = the old one stops at once. */
  overlap_minutes: z.int().min(0).max(OVERLAP_MINUTES_MAX).default(OVERLAP_MINUTES),
  /** What the test calls; absent = the channel's test model. */
  model: z.string().max(500).optional(),
});

export interface KeyRotation {
  /** False for types that cannot be tested. */
  tested: boolean;
  /** Epoch seconds when the old key stops; 0 = it has stopped. */
  retires_at: number;
}

/** Of a key that is being replaced, in the column of its reason. */
interface Retirement {
  /** Epoch seconds. */
  retire_at: number;
  /** The channel had one key, and has one again afterwards. */
  single: boolean;
}

/** Beside why an automatically disabled key is disabled, when it is one. */
export const retirementText = (retirement: Retirement, reason = "{}"): string =>
  JSON.stringify({ ...(JSON.parse(reason) as object), ...retirement });

/** When a key retires; undefined: it does not. */
export function retirementOf({ reason }: { reason: string }): Retirement | undefined {
  if (!reason.includes(`"retire_at":`)) return undefined;
  const { retire_at, single } = JSON.parse(reason) as Retirement; // written above
  return { retire_at, single };
}
