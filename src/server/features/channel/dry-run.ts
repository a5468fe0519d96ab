/** Where a call would go, and why: the relay's own selection without a call. */
import { and, eq, isNull, ne } from "drizzle-orm";
import { contextLength } from "../../../shared/context-lengths";
import { CHANNEL_STATUS } from "../../../shared/channel";
import type {
  DryRun,
  DryRunChannel,
  DryRunInput,
  DryRunLimit,
  DryRunStanding,
  DryRunStep,
} from "../../../shared/dry-run";
import { AppError, type ErrorCode, errorText, type ErrorValues, fail } from "../../../shared/errors";
import { AUTO_GROUP, autoGroups, mayUseGroup } from "../../../shared/group";
import { readLimits } from "../../../shared/limits";
import { estimateUpperBound } from "../../../shared/charge";
import { displayPrices } from "../../../shared/price-display";
import { USER_STATUS } from "../../../shared/roles";
import { TOKEN_STATUS, tokenStatus } from "../../../shared/token";
import { stepReasons } from "../../../shared/virtual-models";
import { seconds, type UserCtx } from "../../contracts/context";
import { hasItem } from "../../db/sql";
import type { Plan, PlannedChannel } from "../../contracts/dry-run";
import type { Caller } from "../../contracts/caller";
import type { PoolChannel } from "../../contracts/channel";
import { groupFacts } from "../group/facts";
import { createLimits } from "../limit/rate-limiter";
import { createSpendStore } from "../limit/spend";
import { createPrices } from "../pricing/price";
import { findVirtual } from "../virtual/virtual-models";

/** Most channels that are not enabled and listed all the same. */
const MOST_DISABLED = 50;
const TOKEN_PROBLEM: Readonly<Partial<Record<number, ErrorCode>>> = {
  [TOKEN_STATUS.disabled]: "token_disabled",
  [TOKEN_STATUS.expired]: "token_expired",
  [TOKEN_STATUS.exhausted]: "token_exhausted",
};

/**
 * The state of limits counts requests of the whole cluster; cooldowns and conversations are those of the instance that
 * answers.
 */
export async function dryRun(ctx: UserCtx, input: DryRunInput): Promise<DryRun> {
  const problems: DryRun["problems"] = [];
  const caller = await callerOf(ctx, input, (code, values = {}) =>
    problems.push({ code, message: errorText(code, values, ctx.lang) }),
  );
  const virtual = findVirtual(ctx)(input.model, caller);
  if (!virtual) return runOf(ctx, input, caller, problems);
  const { groups: _, ...alone } = caller;
  const steps: DryRunStep[] = [];
  for (const { model, group, on = stepReasons, weight, max_input_tokens, denied } of virtual.steps) {
    const refused: DryRun["problems"] = [];
    if (denied)
      refused.push({ code: "group_denied", message: errorText("group_denied", { group: group ?? "" }, ctx.lang) });
    const own = group === undefined ? caller : { ...alone, group };
    const run = await runOf(ctx, { ...input, model }, own, refused, virtual.fixed_price ? virtual.name : model);
    steps.push({
      on: [...on],
      weight: weight ?? null,
      max_input_tokens: max_input_tokens ?? contextLength(model) ?? 0,
      run: denied ? closed(run) : run,
    });
  }
  const [first] = steps;
  const limits = await standingOf(ctx, caller, input.model, []);
  const { endpoint = input.endpoint, operation = "", dialect = "", group = caller.group } = first?.run ?? {};
  const known = { model: input.model, endpoint, operation, dialect, group, groups: [...(caller.groups ?? [])] };
  return { ...known, problems, channels: [], sticky: 0, price: null, limits, steps };
}

/** A step that its caller may not use: none of its channels is tried. */
const closed = (run: DryRun): DryRun => ({ ...run, channels: [] });

const standingOf = (ctx: UserCtx, caller: Caller, model: string, channels: readonly PoolChannel[]) =>
  createLimits({ ...ctx, spend: createSpendStore(ctx) }).standing(caller, model, channels);

/** The dry run of one model; `priced`: the name whose price the call has. */
async function runOf(
  ctx: UserCtx,
  { model, stream, cache_key, ...input }: DryRunInput,
  caller: Caller,
  problems: DryRun["problems"],
  priced = model,
): Promise<DryRun> {
  const endpoint = input.endpoint.replaceAll("{model}", () => encodeURIComponent(model));
  const refuse = (code: ErrorCode, values: ErrorValues = {}): void =>
    void problems.push({ code, message: errorText(code, values, ctx.lang) });
  let plan: Plan | undefined;
  try {
    plan = ctx.routing.plan({ caller, endpoint, model, stream, cache_key });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    refuse(error.code, error.values);
  }
  const price = priceOf(ctx, caller, priced);
  if (!price) refuse("model_price_missing", { model: priced });
  const tried = (plan?.channels ?? []).filter(({ turn }) => turn > 0);
  const standing = await standingOf(
    ctx,
    caller,
    model,
    tried.map(({ channel }) => channel),
  );
  return {
    model,
    endpoint,
    problems,
    limits: standing,
    operation: plan?.operation ?? "",
    dialect: plan?.dialect ?? "",
    group: caller.group,
    groups: [...(caller.groups ?? [])],
    channels: [
      ...(plan?.channels ?? []).map((planned) => present(planned, caller.group, standing)),
      ...(await disabledChannels(ctx, caller, model)),
    ],
    sticky: plan?.sticky ?? 0,
    price: price ? displayPrices(price) : null,
  };
}

/** The caller that the input names, as authentication would build it; errors of authentication go to `refuse`. */
async function callerOf(
  ctx: UserCtx,
  { token_id, user_id, group, model }: DryRunInput,
  refuse: (code: ErrorCode, values?: ErrorValues) => void,
): Promise<Caller> {
  const { db, lang } = ctx;
  const { tokens, users } = db.t;
  const [token] =
    token_id === 0
      ? []
      : await db.q
          .select()
          .from(tokens)
          .where(and(eq(tokens.id, token_id), isNull(tokens.deleted_at)));
  if (token_id !== 0 && !token) fail("token_not_found");
  const [user] = await db.q
    .select()
    .from(users)
    .where(eq(users.id, token?.user_id ?? (user_id || ctx.actor.id)));
  if (!user) return fail("user_not_found");
  if (user.deleted_at !== null || user.status !== USER_STATUS.active) refuse("user_banned");
  const state = token && TOKEN_PROBLEM[tokenStatus(token, seconds(ctx))];
  if (state) refuse(state);
  if (token?.model_limits_enabled && !token.model_limits.split(",").includes(model))
    refuse("token_model_denied", { model });
  const used = group || token?.group || user.group;
  if (!mayUseGroup(groupFacts(ctx), user.group, used)) refuse("group_denied", { group: used });
  const user_limits = readLimits(user).limits;
  const { rpm = 0, tpm = 0, concurrency = 0, budget_day = 0, budget_month = 0 } = token ?? {};
  return {
    user_id: user.id,
    username: user.username,
    role: user.role,
    user_group: user.group,
    group: used,
    ...(used === AUTO_GROUP ? { groups: autoGroups(groupFacts(ctx), user.group) } : {}),
    token_id,
    token_name: token?.name ?? "",
    rpm,
    tpm,
    concurrency,
    budget_day,
    budget_month,
    ...(user_limits && { user_limits }),
    lang,
  };
}

/** The price that a call is held at: with group auto the highest. */
function priceOf({ options }: UserCtx, { group, groups, user_group }: Caller, model: string) {
  const { price } = createPrices(options);
  const prices = (groups ?? [group])
    .map((name) => price(model, name, user_group))
    .filter((found) => found !== undefined);
  return prices.toSorted((a, b) => estimateUpperBound(b, 1e6, 1e6) - estimateUpperBound(a, 1e6, 1e6))[0];
}

function present(
  { channel, turn, share, standing, url, upstream_model, translated, ...planned }: Plan["channels"][number],
  group: string,
  limits: readonly DryRunLimit[],
): DryRunChannel {
  const own = limits.filter(({ scope, of, remaining }) => scope === "channel" && of === channel.id && remaining <= 0);
  // A call at several limits waits for the last of them.
  const full =
    turn > 0 && own.length > 0 ? Math.max(...own.map(({ reset_seconds }) => reset_seconds)) * 1000 : undefined;
  return {
    id: channel.id,
    name: channel.name,
    type: channel.type.id,
    status: CHANNEL_STATUS.enabled,
    group: planned.group ?? group,
    priority: channel.priority,
    weight: channel.weight,
    turn,
    share,
    standing: full === undefined ? nameOf(standing) : "limited",
    remaining_ms: full ?? (typeof standing === "number" ? standing : 0),
    upstream_model,
    url,
    translated,
    ...(planned.score && { score: planned.score }),
  };
}

const nameOf = (standing: PlannedChannel["standing"]): DryRunStanding =>
  typeof standing === "number" ? "cooling" : standing;

/** Channels that would be candidates if they were enabled. */
async function disabledChannels({ db }: UserCtx, { group, groups }: Caller, model: string): Promise<DryRunChannel[]> {
  const { channels } = db.t;
  const found: DryRunChannel[] = [];
  for (const name of groups ?? [group]) {
    const rows = await db.read
      .select({
        id: channels.id,
        name: channels.name,
        type: channels.type,
        status: channels.status,
        priority: channels.priority,
        weight: channels.weight,
      })
      .from(channels)
      .where(
        and(
          ne(channels.status, CHANNEL_STATUS.enabled),
          hasItem(channels.group, name),
          hasItem(channels.models, model),
        ),
      )
      .orderBy(channels.id)
      .limit(MOST_DISABLED);
    for (const row of rows) {
      if (found.some(({ id }) => id === row.id)) continue;
      found.push({
        ...row,
        group: name,
        turn: 0,
        share: 0,
        standing: "disabled",
        remaining_ms: 0,
        upstream_model: "",
        url: "",
        translated: false,
      });
    }
  }
  return found;
}
