/** A channel as the relay uses it, and the set of all of them. */
import type { ChannelType } from "../../shared/channel-types";
import type { ChannelSetting } from "../../shared/channel-setting";
import type { LimitSet } from "../../shared/limits";
import type { MultiKeyMode } from "../../shared/channel-keys";
import type { Drain } from "../../shared/drain";
import type { HeaderRules } from "../../shared/header-override";

/** A channel as the relay uses it: parsed once when the pool is built. The key in clear text exists in memory only. */
export interface PoolChannel {
  id: number;
  name: string;
  type: ChannelType;
  key: string;
  /** Without a trailing slash; the channel type's default address when the channel names none. */
  base_url: string;
  other: string;
  organization: string;
  models: ReadonlySet<string>;
  groups: ReadonlySet<string>;
  priority: number;
  weight: number;
  auto_ban: boolean;
  /** Requested model -> upstream model, chains resolved. */
  model_mapping: ReadonlyMap<string, string>;
  /** Upstream status -> status used for retries, disabling and the caller. */
  status_mapping: ReadonlyMap<number, number>;
  setting: ChannelSetting;
  /** The channel's own limits, members of `setting`; absent when it has none. */
  limits?: LimitSet;
  test_model: string;
  /** Calls with a longer input use other channels; absent and 0 = no limit. */
  max_input_tokens?: number;
  /** One copy of the channel per enabled key, in their order; absent where it has one key. */
  keys?: readonly PoolChannel[];
  /** Keys that drain: no new calls, but what was begun with them goes on. */
  draining_keys?: readonly PoolChannel[];
  /** The channel, or this key of it, drains: it gets no new calls. */
  drain?: Drain;
  /** How an attempt selects one of them. */
  multi_key_mode?: MultiKeyMode;
  /** The index of `key` among several keys. */
  key_row?: { id: number; position: number; hint: string };
  /** Changes to a JSON body, the last step before it is sent (param_override). */
  override?: (body: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  /** Changes to the headers (header_override). */
  headers?: HeaderRules;
}

export interface Pool {
  /** Enabled channels that serve (group, model), any order; the array is shared, never changed. */
  candidates(group: string, model: string): readonly PoolChannel[];
  /** Any channel, enabled or not, for pinned calls and tests. */
  byId(id: number): { channel: PoolChannel; enabled: boolean } | undefined;
  /** Every channel, enabled or not, any order. */
  all(): readonly PoolChannel[];
  /** Every enabled channel of a group, any order, for calls that name no model. */
  inGroup(group: string): readonly PoolChannel[];
  /**
   * An enabled channel is stored for (group, model), but its row cannot be used (unreadable key, unknown type). Where
   * there are no candidates, this distinguishes a broken database from a model that no channel serves (C-600).
   */
  broken(group: string, model: string): boolean;
  /** A channel that is switched off serves (group, model): it is not missing, it is away. */
  off(group: string, model: string): boolean;
  /** Names of the models that some enabled channel serves in a group, sorted. */
  models(group: string): readonly string[];
}
