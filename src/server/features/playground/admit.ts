/**
 * Who may use the playground's call, and which members of its body go upstream (C-559 to C-561): a console session with
 * its user-id header, no key. It spends the user's own balance.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { mayUseGroup } from "../../../shared/group";
import { type LimitSet, readLimits } from "../../../shared/limits";
import type { Lang } from "../../../shared/text";
import type { Actor } from "../../contracts/actor";
import type { Services } from "../../contracts/context";
import type { JsonObject } from "../../lib/json-bytes";
import type { Caller } from "../../contracts/caller";
import { groupFacts } from "../group/facts";

/** What the console keeps with its messages and no upstream knows. */
const OWN_FIELDS = ["id", "createAt"];

function bareMessage(message: unknown): unknown {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return message;
  return Object.fromEntries(Object.entries(message).filter(([name]) => !OWN_FIELDS.includes(name)));
}

/** The body without `group`, without the console's own fields, and without a `max_tokens` of 0, which means unset. */
function upstreamBody({ group: _group, ...body }: JsonObject): JsonObject {
  const { max_tokens, ...rest } = body;
  return {
    ...rest,
    ...(Array.isArray(rest.messages) && { messages: rest.messages.map(bareMessage) }),
    ...(max_tokens !== undefined && max_tokens !== 0 && { max_tokens }),
  };
}

async function limitsOfUser({ db }: Pick<Services, "db">, id: number): Promise<LimitSet | undefined> {
  const { users } = db.t;
  const { rpm, tpm, concurrency, budget_day, budget_month } = users;
  const [row] = await db.q
    .select({ rpm, tpm, concurrency, budget_day, budget_month })
    .from(users)
    .where(eq(users.id, id));
  return row && readLimits(row).limits;
}

type User = Extract<Actor, { kind: "user" }>;

/** Who may use the playground. Throws access_token_not_supported, and not_signed_in or the session's problem. */
export function playgroundUser(actor: Actor): User {
  if (actor.kind !== "user") fail((actor.kind === "guest" && actor.problem) || "not_signed_in");
  if (actor.via === "access_token") fail("access_token_not_supported");
  return actor;
}

/**
 * The caller of one playground call. Throws group_denied for a group that the user may not use; without a group the
 * user's own counts.
 */
export async function admitToPlayground(
  services: Pick<Services, "options" | "db">,
  actor: User,
  sent: JsonObject,
  lang: Lang,
): Promise<{ caller: Caller; body: JsonObject }> {
  const { group: asked = "" } = sent;
  if (typeof asked !== "string") fail("invalid_request", { detail: "group" });
  const group = asked || actor.group;
  if (!mayUseGroup(groupFacts(services), actor.group, group)) fail("group_denied", { group });
  const user_limits = await limitsOfUser(services, actor.id);
  const caller: Caller = {
    user_id: actor.id,
    username: actor.username,
    role: actor.role,
    user_group: actor.group,
    group,
    token_id: 0,
    token_name: `playground-${group}`,
    rpm: 0,
    tpm: 0,
    concurrency: 0,
    ...(user_limits && { user_limits }),
    lang,
  };
  return { caller, body: upstreamBody(sent) };
}
