/** What a run must have done. The same is asked of a client at its vendor and through Weir. */
import type { Entrance, Run } from "./bench";
import type { Client } from "./client";
import { DONE, NOTES } from "./vendors/script";
import type { Fate } from "./vendors/server";

/** How each scenario is told in the report. */
export const SCENARIOS: Readonly<Record<Fate, string>> = {
  answers: "three turns with tools",
  error_in_stream: "error in a stream",
  dead_key: "dead key",
  rate_limited: "two limits (429)",
  overloaded: "two overloads",
  too_long: "context too long",
  out_of_quota: "out of quota",
  unknown_model: "unknown model",
};

export interface Verdict {
  readonly verdict: "ok" | "FAIL" | "not judged";
  /** Why it failed, or why it is not judged. */
  readonly cause: string;
  readonly remarks: readonly string[];
}

const tail = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(-300);

/** How a limit and an overload are told, in any dialect: 529 is Anthropic's word for an overload. */
const PASSING: Partial<Record<Fate, readonly number[]>> = { rate_limited: [429], overloaded: [503, 529] };

/** The client came to its end with all that it was asked for. */
function unfinished({ outcome, vendor }: Run): string | undefined {
  const refused = vendor.asked.find(({ refusal }) => refusal !== undefined)?.refusal;
  if (refused !== undefined) return `the vendor refuses: ${refused}`;
  if (outcome.ended === "too late") return "it does not end";
  if (outcome.ended === "failed") return `it fails: ${tail(outcome.says)}`;
  const missing = Object.values(NOTES).filter((word) => !vendor.words.has(word));
  if (missing.length > 0) return `tool results do not arrive: ${missing.join(", ")}`;
  const untold = Object.values(NOTES).filter((word) => !outcome.says.includes(word));
  if (!outcome.says.includes(DONE) || untold.length > 0)
    return `its last text is not the model's: ${tail(outcome.says)}`;
  return undefined;
}

/** What is wrong with a run, against the same at its vendor. */
function problemOf(client: Client, fate: Fate, run: Run, vendorsOwn: Run | undefined): string | undefined {
  const { outcome, door, vendor } = run;
  const calls = door.statuses.length;
  const own = vendorsOwn?.door.statuses.length;
  const passing = PASSING[fate];
  // A client that does not try again hears what it is.
  if (passing && outcome.ended === "failed" && calls === 1 && (own ?? 1) === 1)
    return passing.includes(door.statuses[0] ?? 0) ? undefined : `answered with ${door.statuses.join(", ")}`;
  if (passing || fate === "answers") return unfinished(run);
  if (outcome.ended === "too late") return `it does not end, after ${calls} calls`;
  if (fate === "error_in_stream")
    return outcome.ended === "answered" && !outcome.says.includes(DONE) && client.kind === "sdk"
      ? `a broken answer passes for a whole one: ${tail(outcome.says)}`
      : undefined;
  if (outcome.says.includes(DONE)) return "it answers";
  // No client says which language it reads.
  if (/\p{Script=Han}/u.test(outcome.says)) return `its words are not English: ${tail(outcome.says)}`;
  if (fate === "too_long" && !client.tooLong.test(outcome.says))
    return `it does not see the cause: ${tail(outcome.says)}`;
  if (!vendorsOwn) return undefined;
  if (fate === "out_of_quota") {
    if (vendor.asked.length > 0) return "the vendor is asked";
    if (!/quota|credit|billing/i.test(outcome.says)) return `it does not see the cause: ${tail(outcome.says)}`;
    if (client.obeys && calls > 1) return `it asks ${calls} times`;
  }
  if (fate === "unknown_model" && door.statuses.some((status) => status !== 404))
    return `answered with ${[...new Set(door.statuses)].join(", ")}, not 404`;
  // An agent's own patience is its user's; what reaches the upstream is not.
  const made = client.obeys ? calls : vendor.asked.length;
  return own !== undefined && made > own ? oftener(door, own) : undefined;
}

const oftener = ({ statuses }: Entrance, own: number): string =>
  `it asks ${statuses.length} times (${[...new Set(statuses)].join(", ")}), and its vendor ${own} times`;

/** A cell fails only where the client does not fail at its vendor, too. */
export function judgeRun(client: Client, fate: Fate, run: Run, vendorsOwn: Run | undefined): Verdict {
  const { issued, returned } = run.vendor;
  const remarks = [...new Set(run.vendor.remarks)].map((remark) => `without a source, not judged: ${remark}`);
  if (fate === "answers" && issued.size > 0 && returned.size === 0) remarks.push("thoughts do not come back");
  const asked = vendorsOwn?.door.statuses.length ?? 0;
  if (vendorsOwn && fate !== "answers" && run.door.statuses.length > 2 * asked)
    remarks.push(`${SCENARIOS[fate]}: ${oftener(run.door, asked)}`);
  for (const path of run.door.lost) remarks.push(`not served: ${path}`);
  const cause = problemOf(client, fate, run, vendorsOwn) ?? (run.bill === "" ? undefined : run.bill);
  const own = cause === undefined ? undefined : vendorsOwn && problemOf(client, fate, vendorsOwn, undefined);
  if (own !== undefined) return { verdict: "not judged", cause: `at its vendor: ${own}`, remarks };
  return cause === undefined ? { verdict: "ok", cause: "", remarks } : { verdict: "FAIL", cause, remarks };
}
