/** Verbs on options, with their audit rows. The store checks, keeps and announces. */
import { fail } from "../../../shared/errors";
import { isOptionKey, missingNeeds, option, type OptionKey, optionKeys, parseOption } from "../../../shared/options";
import type { VirtualModels } from "../../../shared/virtual-models";
import type { ActorCtx, Ctx, UserCtx } from "../../contracts/context";
import { isOwnOrigin } from "../../http/own-page";
import { recordAct } from "../audit/record";
import { requirePerson } from "../auth/step-up";
import { checkVirtualModels } from "../virtual/virtual-models";
import { shownChange } from "./shown-change";

/** Sets one option and records the value before; secrets only as changed. Errors are in the caller's language. */
export async function setOption(ctx: UserCtx, key: string, text: string): Promise<void> {
  if (isOptionKey(key) && option(key).person) requirePerson(ctx);
  const changed = await storeOption(ctx, key, text);
  if (changed && (key === "ServerAddress" || key === "ConsoleAddresses"))
    await keepOwnAddress(ctx, (addresses) => setOption(ctx, "ConsoleAddresses", addresses));
}

/** As setOption, for callers without a page, whose address must stay reachable; whether the value has changed. */
export async function storeOption(ctx: ActorCtx, key: string, text: string): Promise<boolean> {
  if (!isOptionKey(key)) return fail("option_unknown", { key });
  const { label, secret } = option(key);
  const parsed = parseOption(key, text);
  if (!parsed.ok) fail("option_invalid", { label: label[ctx.lang], detail: parsed.problem[ctx.lang] });
  if (key === "VirtualModels" && parsed.ok) checkVirtualModels(ctx, parsed.value as VirtualModels, label[ctx.lang]);
  const missing = missingNeeds(option(key), text, (needed) => ctx.options.text(needed) !== "");
  if (missing.length > 0) fail("option_needs", { needs: missing.map((needed) => nameOf(needed, ctx.lang)).join("、") });
  const before = ctx.options.text(key);
  await ctx.options.set(key, text);
  const after = ctx.options.text(key);
  if (before === after) return false;
  const shown = (value: string) => (secret ? (value === "" ? "" : "set") : value);
  await recordAct(ctx, { action: "option.update", target: key, ...shownChange(key, shown(before), shown(after)) });
  return true;
}

/**
 * Calls `keep` with the option ConsoleAddresses plus the address of the current page, where that is not among the
 * console's: a change of the addresses must not lock its author out.
 */
export async function keepOwnAddress(ctx: Ctx, keep: (addresses: string) => Promise<void>): Promise<void> {
  const {
    actor,
    options,
    request: { origin },
  } = ctx;
  const isPage =
    origin !== undefined &&
    /^https?:/.test(origin) &&
    URL.canParse(origin) &&
    !(actor.kind === "user" && actor.via === "access_token");
  if (isPage && !isOwnOrigin(ctx, origin)) await keep([...options.get("ConsoleAddresses"), origin].join("\n"));
}

/** Labels such as "Client ID" are on several cards: the key is unique. */
const nameOf = (key: OptionKey, lang: Ctx["lang"]): string => `${option(key).label[lang]} (${key})`;

/** Every option's text, and which secrets are set; no secret's text (write only). */
export function settings(ctx: Ctx): { values: Partial<Record<OptionKey, string>>; set: OptionKey[] } {
  const open = optionKeys.filter((key) => !option(key).secret);
  return {
    values: Object.fromEntries(open.map((key) => [key, ctx.options.text(key)])),
    set: optionKeys.filter((key) => option(key).secret && ctx.options.text(key) !== ""),
  };
}
