/** An import's plan and result as text for a terminal. Names and mails are shown, secrets are never part of a plan. */
import { openDecisions, type Plan, type PriceReport } from "./plan";
import type { Done } from "./done";

const dollars = (one: PriceReport["old"]): string => {
  if (!one) return "?";
  if (one.call !== undefined) return `$${one.call} a call`;
  return `$${one.input ?? "?"} / $${one.output ?? "?"}`;
};

const counts = (list: Readonly<Record<string, number>>): string =>
  Object.entries(list)
    .map(([what, n]) => `${n} ${what}`)
    .join("; ");

/** At most so many lines of one list; --json has all. */
const MOST = 60;

function list(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MOST ? [`  … and ${lines.length - MOST} more (--json lists all)`] : [];
  return ["", title, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...more];
}

/** The plan, with the decisions file to be filled at its end where one is open. */
export function planText(plan: Plan): string {
  const { balances, decisions } = plan;
  const open = openDecisions(plan);
  const out = [`Source: ${plan.recognised}, ${plan.engine} (${plan.source})`];
  out.push(
    ...list(
      "Tables",
      plan.tables.flatMap((one) => [
        `${one.table}: ${one.taken} of ${one.rows} rows become ${one.becomes}`,
        ...(Object.keys(one.changed).length > 0 ? [`  changed: ${counts(one.changed)}`] : []),
        ...(Object.keys(one.left).length > 0 ? [`  left: ${counts(one.left)}`] : []),
        ...one.columns.map(({ column, rows, why }) => `  not taken: ${one.table}.${column}, ${rows} rows (${why})`),
      ]),
    ),
    ...list(
      "Tables that are not taken",
      plan.other.map(({ table, rows, why }) => `${table}: ${rows} rows (${why})`),
    ),
    ...list(
      "Channels",
      plan.channels.map(
        ({ id, name, was, becomes, notes }) =>
          `${id} ${name}: ${was} -> ${becomes}${notes.map((note) => `\n      ${note}`).join("")}`,
      ),
    ),
    ...list(
      "Prices, USD per million tokens in / out: there -> here",
      plan.prices.map(
        (one) =>
          `${one.model}: ${dollars(one.old)} -> ${one.now ? dollars(one.now) : "no price: calls are refused"}${one.differs ? "   <- differs" : ""}`,
      ),
    ),
    ...list("Options that mean something else here", plan.options.differs),
    ...list("Options that are not taken", plan.options.left),
    ...list("Notes", plan.notes),
  );
  const { shadow } = plan;
  if (shadow.calls > 0)
    out.push(
      ...list(
        `The last ${shadow.calls} charged calls at the prices here, in units: ${shadow.old} there, ${shadow.now} here`,
        [
          ...(shadow.unpriced > 0 ? [`${shadow.unpriced} of them have no price here`] : []),
          ...shadow.models.map(
            ({ model, group, calls, old, now }) => `${model} (${group}): ${calls} calls, ${old} -> ${now}`,
          ),
          ...(shadow.models.length === 0 && shadow.unpriced === 0 ? ["each model is charged the same"] : []),
        ],
      ),
    );
  const even = balances.old + balances.debts === balances.now;
  out.push(
    "",
    `Options taken: ${plan.options.taken.length}. Models without a price: ${plan.unpriced.length}.`,
    `Balances of ${balances.users} users, in units: ${balances.old} there, ${balances.now} here${balances.debts > 0 ? ` (debts of ${balances.debts} become 0)` : ""}: ${even ? "equal" : "NOT EQUAL"}.`,
  );
  if (balances.left !== 0) out.push(`Users who are not taken have ${balances.left} units.`);
  if (decisions.length > 0)
    out.push(
      ...list(
        "Decisions",
        decisions.map(
          ({ id, question, choices, recommended, answer }) =>
            `${id}: ${answer ?? `OPEN (${choices.join(" | ")}; recommended: ${recommended})`}\n      ${question}`,
        ),
      ),
    );
  if (open.length > 0)
    out.push(
      "",
      `${open.length} decisions are open. A file for --decisions with what is recommended:`,
      JSON.stringify(Object.fromEntries(decisions.map((one) => [one.id, one.answer ?? one.recommended])), undefined, 2),
    );
  return out.join("\n");
}

/** What a run wrote. */
export function doneText({ users, channels, codes, logs, options, moved, finished }: Done): string {
  const out = [
    `Users: ${users.users} new, ${users.changed} changed, ${users.unchanged} as before. Tokens: ${users.tokens} new.`,
    `Channels: ${channels} new. Redemption codes: ${codes} new.`,
    `Log: ${logs.read} rows read into roll-ups, ${logs.kept} kept.${Object.keys(logs.left).length > 0 ? ` Left: ${counts(logs.left)}.` : ""}`,
  ];
  for (const [key, why] of Object.entries(options)) out.push(`Option ${key} could not be set: ${why}`);
  if (moved)
    out.push("The source changed while it was read: stop it and run the import again; only what changed is taken.");
  if (!finished) out.push("Interrupted: the same command goes on where it stopped.");
  return out.join("\n");
}
