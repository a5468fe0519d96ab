/** QuantumNous/new-api, 0.6 to 1.x: Weir's channel types have its numbers, and most options its names. */
import { jsonObject } from "../../../../shared/channel";
import type { System } from "../system";
import { objectOf, textOf, wholeOf, flagOf } from "../values";
import { CHANNEL_COLUMNS, familyChannel, multiKeys, sameNumber, withSetting } from "./channel-row";
import {
  BY_CHOICE,
  FAMILY,
  FAMILY_LEFT,
  familyLog,
  familyToken,
  familyUser,
  has,
  rawOptions,
  sharedOptions,
  TOKEN_COLUMNS,
  USER_COLUMNS,
} from "./family";
import { drawings, tasks, topUps } from "./family-records";
import { expressionPrices } from "./new-api-expressions";
import { LOG_COLUMNS } from "./shared-facts";

/** Numbers from here on differ between the forks. */
const FORKED = 58;

/** Members of `settings` that are members of `setting` here. */
const MOVED = ["allow_service_tier", "allow_inference_geo", "allow_speed"] as const;

export const newApi: System = {
  name: "new-api",
  recognise: (catalogue) => {
    if (!catalogue.has("abilities") || catalogue.has("prices") || catalogue.has("user_groups")) return undefined;
    if (catalogue.has("setups") || has(catalogue, "channels", "channel_info")) return "new-api 0.8.5 or later";
    return has(catalogue, "channels", "setting") ? "new-api before 0.8.5" : undefined;
  },
  tables: (_catalogue, asked) => ({
    users: {
      ...FAMILY.users,
      taken: [
        ...USER_COLUMNS,
        "aff_count",
        "aff_quota",
        "aff_history",
        "oidc_id",
        "linux_do_id",
        "telegram_id",
        "setting",
        "created_at",
        "last_login_at",
      ],
      left: {
        discord_id: "Weir has no such provider",
        remark: "Weir has no remarks on users",
        stripe_customer: "Stripe makes a new customer at the next order",
      },
      read: (row) => familyUser(row, asked),
    },
    tokens: {
      ...FAMILY.tokens,
      taken: [...TOKEN_COLUMNS, "model_limits_enabled", "model_limits", "allow_ips", "group"],
      left: { cross_group_retry: "here the group auto tries its groups in order" },
      read: (row) =>
        familyToken(row, {
          enabled: flagOf(row, "model_limits_enabled"),
          models: textOf(row, "model_limits"),
          ips: textOf(row, "allow_ips"),
        }),
    },
    channels: {
      ...FAMILY.channels,
      taken: [
        ...CHANNEL_COLUMNS,
        "openai_organization",
        "test_model",
        "status_code_mapping",
        "auto_ban",
        "other_info",
        "tag",
        "setting",
        "settings",
        "param_override",
        "header_override",
        "channel_info",
      ],
      left: { remark: "Weir has no remarks on channels" },
      read: (row) => {
        const number = wholeOf(row, "type");
        const channel = familyChannel(row, number < FORKED ? sameNumber(number) : undefined);
        const settings = objectOf(row, "settings");
        const moved = Object.fromEntries(MOVED.map((name) => [name, settings[name] === true]));
        const rest = Object.entries(settings).filter(
          ([name, value]) => !MOVED.some((one) => one === name) && value !== "" && value !== false && value !== null,
        );
        return {
          ...channel,
          ...multiKeys(row),
          // new-api draws by weight + 10; weights here are plain proportions.
          weight: channel.weight + 10,
          setting: withSetting(withoutUnset(channel.setting), moved),
          notes: [...channel.notes, ...rest.map(([name]) => `settings.${name} is not taken over`)],
        };
      },
    },
    codes: FAMILY.codes,
    logs: {
      ...FAMILY.logs,
      taken: [...LOG_COLUMNS, "use_time", "is_stream", "channel_id", "token_id", "group", "ip"],
      left: { other: "the factors of old prices" },
      read: (row) => familyLog(row, {}),
    },
    orders: topUps(Number(asked.units)),
    drawings,
    tasks,
  }),
  options: async (source, catalogue) => {
    const raw = await rawOptions(source, catalogue);
    const shared = sharedOptions(raw);
    const written = expressionPrices(raw);
    return {
      ...shared,
      values: new Map([...shared.values, ...written.options(shared.values)]),
      left: [...shared.left.filter((name) => !name.startsWith("billing_setting.")), ...written.left],
    };
  },
  leftTables: {
    ...FAMILY_LEFT,
    top_ups: BY_CHOICE,
    quota_data: "the roll-ups are made of the log",
    subscription_plans: "Weir has no plans",
    user_subscriptions: "what is left of a plan must be given as a credit by hand",
    two_fas: "recovery codes are hashed differently: users set their second factor up again",
    passkey_credentials: "bound to the old address: users add their passkeys again",
  },
};

/** Members that say nothing: new-api writes them all. */
function withoutUnset(setting: string): string {
  const members = Object.entries(jsonObject(setting) ?? {});
  return JSON.stringify(
    Object.fromEntries(members.filter(([, value]) => value !== "" && value !== false && value !== null)),
  );
}
