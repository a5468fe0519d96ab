/** A caller after authentication, and their spending limits. */
import type { MjMode } from "../../shared/midjourney";
import type { LimitSet } from "../../shared/limits";
import type { Lang } from "../../shared/text";

export interface Caller {
  user_id: number;
  username: string;
  role: number;
  /** The user's own group. */
  user_group: string;
  /** The group whose channels and ratio are used: the token's, else the user's. */
  group: string;
  /** Group "auto": the groups that it stands for, in order; `group` becomes the one that serves. */
  groups?: readonly string[];
  token_id: number;
  token_name: string;
  /** undefined = every model. */
  models?: ReadonlySet<string>;
  /** Administrators only: `sk-KEY-<channel id>`. */
  channel_id?: number;
  /** The token's limits; 0 or absent = none. */
  rpm: number;
  tpm: number;
  concurrency: number;
  budget_day?: number;
  budget_month?: number;
  /** Speed of the token's drawing jobs; absent = no preference. */
  mj_mode?: MjMode;
  /** The user's own limits; absent when there are none. */
  user_limits?: LimitSet;
  lang: Lang;
}

/** A caller's spending limit, in units. */
export interface Funds {
  remain: number;
  used: number;
  unlimited: boolean;
  /** When the token ends, epoch seconds; 0 = never. */
  expires: number;
}
