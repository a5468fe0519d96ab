/**
 * Rules of a model's price: "when … then prices or a factor". The first rule that applies counts, the plain price
 * stands last. A rule is data, no program: its conditions are few, all of them must hold, and each reads as a sentence
 * (price-rule-text.ts). ruled-price.ts makes prices of them.
 */
import { z } from "zod";
import type { Shape } from "./options/kinds";
import { dayBefore, isZone, localTime } from "./zone-time";

/** The most rules of one model. */
export const MOST_RULES = 50;

const clock = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/);
const date = z.iso.date();
const zoneName = z.string().min(1).max(64).refine(isZone, { error: "unknown time zone" });
const texts = z.array(z.string().min(1).max(64)).min(1).max(50);
const amount = z.number().positive().max(1e6);

/** A window of hours on days of the week; one that ends before it begins goes over midnight. */
export const hourWindow = z
  .strictObject({
    zone: zoneName,
    /** 1 Monday to 7 Sunday, the day on which the window begins; absent: every day. */
    days: z.array(z.int().min(1).max(7)).min(1).max(7).optional(),
    /** Inclusive. */
    from: clock,
    /** Exclusive. */
    to: clock,
    /** Local dates without the window, public holidays for instance. */
    except: z.array(date).min(1).max(100).optional(),
  })
  .refine(({ from, to }) => from !== to && from !== "24:00", { error: "an empty window of hours" });

/** Local dates, both inclusive; one that is absent leaves its end open. */
const dateRange = z
  .strictObject({
    zone: zoneName,
    from: date.optional(),
    until: date.optional(),
  })
  .refine(({ from, until }) => from !== undefined || until !== undefined, { error: "a range without dates" })
  .refine(({ from = "", until = "9999" }) => from <= until, { error: "a range that ends before it begins" });

/** `over` exclusive, `up_to` inclusive. */
const numberRange = z
  .strictObject({ over: z.number().min(0).max(1e12).optional(), up_to: z.number().positive().max(1e12).optional() })
  .refine(({ over, up_to }) => (over ?? -1) < (up_to ?? Infinity) && (over !== undefined || up_to !== undefined), {
    error: "an empty range",
  });

const conditions = z.strictObject({
  /** One of these windows. */
  hours: z.array(hourWindow).min(1).max(20).optional(),
  /** In one of these ranges of dates. */
  dates: z.array(dateRange).min(1).max(50).optional(),
  /** Tokens of the whole input: cached, audio and image tokens included. */
  input: numberRange.optional(),
  /** Whether the vendor read a part of the input from its cache. */
  cached: z.boolean().optional(),
  /** The request's service_tier. */
  service_tier: texts.optional(),
  /** Where the request wants to be processed (inference_geo). */
  region: texts.optional(),
  /** A line of a batch (/v1/batches): the route says so, no member of a request does. */
  batch: z.literal(true).optional(),
  /** Of a picture. */
  size: texts.optional(),
  quality: texts.optional(),
  /** Of a video. */
  seconds: numberRange.optional(),
  resolution: texts.optional(),
  /** A member of the request, its names joined by dots, and its values as texts. */
  member: z
    .strictObject({
      path: z
        .string()
        .regex(/^[\w-]+(?:\.[\w-]+){0,7}$/)
        .max(100),
      values: texts,
    })
    .optional(),
});

/** A batch is priced by the sum of its lines, which says nothing of one line's length or cache. */
const possible = conditions.refine(
  ({ batch, input, cached }) => batch === undefined || (input === undefined && cached === undefined),
  { error: "a batch has no length of input and no cache state" },
);

/** USD per 1M tokens by kind; `call`: USD of one call. */
const dollars = z
  .strictObject({
    input: amount,
    output: amount,
    reasoning: amount,
    cache_read: amount,
    cache_write_5m: amount,
    cache_write_1h: amount,
    audio_in: amount,
    audio_out: amount,
    image_in: amount,
    image_out: amount,
    call: amount,
  })
  .partial();

const priceRule = z.strictObject({
  name: z.string().trim().min(1).max(60),
  when: possible,
  then: z.union([
    /** Multiplies the whole plain price. */
    z.strictObject({ factor: amount }),
    /** Multiplies all input and all output. */
    z.strictObject({ input: amount, output: amount }),
    /** Replaces prices; what is not named stays as it is in the plain price. */
    z.strictObject({ usd: dollars.refine((prices) => Object.keys(prices).length > 0, { error: "no price" }) }),
  ]),
  /** A rule on what callers choose may make the price lower too: without this it only makes it higher. */
  cheaper: z.literal(true).optional(),
});

/** The rules of one price. */
export const ruleList = z
  .array(priceRule)
  .max(MOST_RULES)
  .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, { error: "two rules of one name" })
  .refine((rules) => !rules.some((rule) => isCallers(rule) && rule.cheaper !== true && lowers(rule)), {
    error: "a rule on what callers choose makes the price lower without `cheaper`",
  });

export type HourWindow = z.infer<typeof hourWindow>;
export type DateRange = z.infer<typeof dateRange>;
export type NumberRange = z.infer<typeof numberRange>;
export type PriceRule = z.infer<typeof priceRule>;
/** What a price in dollars is for: a kind of token, or `call`. */
export type RuleKind = keyof z.infer<typeof dollars>;
export type RuleConditions = PriceRule["when"];

/** Whether callers decide if the rule applies, by a member that costs them nothing to write. */
export const isCallers = ({ when }: Pick<PriceRule, "when">): boolean =>
  when.member !== undefined || when.service_tier !== undefined || when.region !== undefined;

/**
 * The members of a request that choose its service: a tier (also as Google spells it), a region, a speed. Vendors ask
 * more for some values and less for others.
 */
export const SERVICE_MEMBERS = ["service_tier", "serviceTier", "inference_geo", "speed"] as const;

export const isServiceMember = (path: string): boolean => SERVICE_MEMBERS.some((name) => name === path);

/**
 * How a vendor served a call, by the names of the request's members: a request only asks, the answer says what was
 * done.
 */
export interface Served {
  readonly service_tier?: string;
  readonly inference_geo?: string;
  readonly speed?: string;
}

/** Whether the rule asks for the service that a call gets, which an answer may say. */
export const isServiceRule = ({ when }: Pick<PriceRule, "when">): boolean =>
  when.service_tier !== undefined || when.region !== undefined || when.member?.path === "speed";

const lowers = ({ then }: Pick<PriceRule, "then">): boolean =>
  "factor" in then ? then.factor < 1 : "input" in then && (then.input < 1 || then.output < 1);

/** The rules of one model. Returns what is wrong with them, in English. */
export function parseRules(value: unknown): { rules: PriceRule[] } | { problem: string; path: string } {
  const parsed = ruleList.safeParse(value);
  if (parsed.success) return { rules: parsed.data };
  const [issue] = parsed.error.issues;
  return { problem: issue?.message ?? "not a list of rules", path: issue?.path.join(".") ?? "" };
}

const CONDITIONS: Readonly<Record<keyof RuleConditions, true>> = {
  hours: true,
  dates: true,
  input: true,
  cached: true,
  service_tier: true,
  batch: true,
  region: true,
  size: true,
  quality: true,
  seconds: true,
  resolution: true,
  member: true,
};

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * Whether `value`, a rule that was checked when it was written, has a form that this release knows. A list of calls
 * asks this for each row: it needs no schema.
 */
export function isRule(value: unknown): value is PriceRule {
  if (!isObject(value) || !("name" in value && "when" in value && "then" in value)) return false;
  const { when, then } = value;
  if (!isObject(when) || !isObject(then)) return false;
  const isOutcome = "factor" in then || ("input" in then && "output" in then) || ("usd" in then && isObject(then.usd));
  return isOutcome && Object.keys(when).every((name) => Object.hasOwn(CONDITIONS, name));
}

/** model -> its rules, for the option PriceRules. */
export function priceRulesShape(): Shape<Readonly<Record<string, readonly PriceRule[]>>> {
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { zh: "必须是 JSON 对象", en: "Must be a JSON object" };
    const checked = new Map<string, readonly PriceRule[]>();
    for (const [model, list] of Object.entries(value)) {
      if (model.trim() === "") return { zh: "名称不能为空", en: "Names must not be empty", at: model };
      const parsed = parseRules(list);
      if ("problem" in parsed) {
        const place = parsed.path === "" ? "" : ` (${parsed.path})`;
        return {
          zh: `价格规则不合法${place}：${parsed.problem}`,
          en: `Not a valid price rule${place}: ${parsed.problem}`,
          at: model,
        };
      }
      checked.set(model, parsed.rules);
    }
    return { value: Object.fromEntries(checked) };
  };
}

/** Values of a request's members by their paths. */
export type RequestFacts = Readonly<Record<string, readonly unknown[]>>;

/** What a request says of its service, as `values` finds the members. */
export const serviceFacts = (values: (name: string) => readonly unknown[]): Record<string, readonly unknown[]> =>
  Object.fromEntries(SERVICE_MEMBERS.map((name) => [name, values(name)]));

/** What is known of a call when it is held, and when it has ended. */
export interface Circumstances {
  /** Of the hold, epoch milliseconds. */
  readonly moment: number;
  /** The values of a request's member: its own, and the one in `extra_body`, which some vendors read alike. */
  member(path: string): readonly unknown[];
  /** What the answer says of the call's service, which goes before what the request asked for. */
  readonly served?: Served | undefined;
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly seconds?: number | undefined;
  readonly resolution?: string | undefined;
  /** The lines of a batch are priced together: their share of the price of single calls. */
  readonly batch?: number | undefined;
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** Whether a moment lies in the window. */
export function inWindow({ zone, days, from, to, except }: HourWindow, moment: number): boolean {
  const now = localTime(zone, moment);
  const [start, end] = [minuteOf(from), minuteOf(to)];
  const begins = ({ day, date: on }: { day: number; date: string }): boolean =>
    (days === undefined || days.includes(day)) && except?.includes(on) !== true;
  if (start < end) return now.minute >= start && now.minute < end && begins(now);
  // After midnight it is still the window of the day before.
  return now.minute >= start ? begins(now) : now.minute < end && begins(dayBefore(now));
}

/** Whether a moment lies in the range of dates. */
function inDates({ zone, from, until }: DateRange, moment: number): boolean {
  const { date: today } = localTime(zone, moment);
  return (from === undefined || today >= from) && (until === undefined || today <= until);
}

/** Whether the rule's hours and dates hold at a moment; a rule without either holds at all times. */
export const holdsAt = ({ when: { hours, dates } }: Pick<PriceRule, "when">, moment: number): boolean =>
  (hours === undefined || hours.some((window) => inWindow(window, moment))) &&
  (dates === undefined || dates.some((range) => inDates(range, moment)));

/** Whether the rule is about time. */
export const isTimed = ({ when }: Pick<PriceRule, "when">): boolean =>
  when.hours !== undefined || when.dates !== undefined;

export const inRange = ({ over = -1, up_to = Infinity }: NumberRange, value: number): boolean =>
  value > over && value <= up_to;

const text = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;

function oneOf(
  values: readonly string[] | undefined,
  given: () => readonly unknown[],
  which: "some" | "every" = "some",
): boolean {
  if (values === undefined) return true;
  // Vendors read such words in any case.
  const wanted = values.map((value) => value.toLowerCase());
  const found = given();
  return found.length > 0 && found[which]((value) => wanted.includes(text(value)?.toLowerCase() ?? ""));
}

/**
 * Whether a rule applies as far as the request shows: "open" where its input decides, which is counted when the call
 * has ended.
 */
export function applies(rule: PriceRule, call: Circumstances): "yes" | "no" | "open" {
  const { when, cheaper } = rule;
  const service = (name: keyof Served): readonly unknown[] => {
    const said = call.served?.[name];
    if (said !== undefined) return [said];
    // A vendor, or a channel's, may ignore the wish for a cheaper service: only its answer makes the price lower.
    if (cheaper === true) return [];
    return name === "service_tier" ? [...call.member(name), ...call.member("serviceTier")] : call.member(name);
  };
  // Of two values the vendor may read either: both must allow a lower price, one is enough for a higher one.
  const which = cheaper === true ? "every" : "some";
  const holds =
    holdsAt(rule, call.moment) &&
    (when.batch === undefined || call.batch !== undefined) &&
    oneOf(when.size, () => [call.size]) &&
    oneOf(when.quality, () => [call.quality]) &&
    oneOf(when.resolution, () => [call.resolution]) &&
    (when.seconds === undefined || (call.seconds !== undefined && inRange(when.seconds, call.seconds))) &&
    oneOf(when.service_tier, () => service("service_tier"), which) &&
    oneOf(when.region, () => service("inference_geo"), which) &&
    oneOf(when.member?.values, () => memberOf(when.member, call, service), which);
  if (!holds) return "no";
  if (when.input === undefined && when.cached === undefined) return "yes";
  // The sum of many short inputs is not a long one, and a hit in one line is none in the others.
  return call.batch === undefined ? "open" : "no";
}

const memberOf = (
  member: RuleConditions["member"],
  call: Circumstances,
  service: (name: keyof Served) => readonly unknown[],
): readonly unknown[] => (member?.path === "speed" ? service("speed") : member ? call.member(member.path) : []);

/** The values at a path of a request's body and of its `extra_body`. */
export function membersAt(body: Readonly<Record<string, unknown>>, path: string): unknown[] {
  return [memberAt(body, path), memberAt(body, `extra_body.${path}`)].filter((value) => value !== undefined);
}

function memberAt(body: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (value, name) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, name)
          ? (value as Readonly<Record<string, unknown>>)[name]
          : undefined,
      body,
    );
}
