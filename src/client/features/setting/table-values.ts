/** JSON options as rows of a table and back. A text that is not of the option's shape has no rows. */
import { parseOption } from "../../../shared/options";
import type { Row } from "../../components/rows-table";

const laidOut = (value: unknown): string => JSON.stringify(value, null, 2);

/** A number as it was typed becomes a number; what is none stays text, which the option's own check refuses. */
const numberOr = (text: string): number | string =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;

/** The texts of the options that the table of groups stands for. */
export interface GroupTexts {
  ratio: string;
  usable: string;
  routing: string;
}

/** Groups: name, ratio, whether channels are chosen by score, whether users may choose it, and its name for them. */
export function groupRows(texts: GroupTexts): Row[] | null {
  const ratios = parseOption("GroupRatio", texts.ratio);
  const usable = parseOption("UserUsableGroups", texts.usable);
  const routing = parseOption("GroupRouting", texts.routing);
  if (!ratios.ok || !usable.ok || !routing.ok) return null;
  const names = [...new Set([ratios, usable, routing].flatMap(({ value }) => Object.keys(value)))];
  return names.map((name) => ({
    name,
    ratio: String(Object.hasOwn(ratios.value, name) ? ratios.value[name] : ""),
    score: Object.hasOwn(routing.value, name) && routing.value[name] === "score",
    usable: Object.hasOwn(usable.value, name),
    description: Object.hasOwn(usable.value, name) ? (usable.value[name] ?? "") : "",
  }));
}

/**
 * The texts of the options. A row without a ratio is offered but has none; one of a repeated name would be lost, so
 * there is none.
 */
export function groupTexts(rows: readonly Row[]): GroupTexts {
  const ratio = rows
    .filter((row) => row["ratio"] !== "")
    .map((row) => [String(row["name"]), numberOr(String(row["ratio"]))]);
  const usable = rows
    .filter((row) => row["usable"] === true)
    .map((row) => [String(row["name"]), String(row["description"] ?? "")]);
  const routing = rows.filter((row) => row["score"] === true).map((row) => [String(row["name"]), "score"]);
  const [ratioText, usableText, routingText] = [ratio, usable, routing].map((entries) =>
    laidOut(Object.fromEntries(entries)),
  );
  return { ratio: ratioText ?? "", usable: usableText ?? "", routing: routingText ?? "" };
}

/** A name that two rows have: a map cannot hold both. */
export function repeatedName(rows: readonly Row[]): string | undefined {
  const names = rows.map((row) => String(row["name"]));
  return names.find((name, index) => names.indexOf(name) !== index);
}

const DAYS = [1, 2, 3, 4, 5, 6, 7] as const;
/** The column of a day, 1 = Monday. */
export const dayColumn = (day: number): string => `day${day}`;

/** Windows of hours, one box a day; dates without the window as one text. */
export function quietRows(text: string): Row[] | null {
  const parsed = parseOption("AlertQuietHours", text);
  if (!parsed.ok) return null;
  return parsed.value.map(({ from, to, zone, days, except = [] }) => ({
    from,
    to,
    zone,
    ...Object.fromEntries(DAYS.map((day) => [dayColumn(day), days === undefined || days.includes(day)])),
    except: except.join(" "),
  }));
}

export const quietText = (rows: readonly Row[]): string =>
  laidOut(
    rows.map((row) => {
      const days = DAYS.filter((day) => row[dayColumn(day)] === true);
      const except = String(row["except"] ?? "").match(/[^\s,，、]+/g) ?? [];
      return {
        zone: String(row["zone"]).trim(),
        ...(days.length < DAYS.length && { days }),
        from: String(row["from"]).trim(),
        to: String(row["to"]).trim(),
        ...(except.length > 0 && { except }),
      };
    }),
  );

/** A window of every night, where the operator is. */
export const newQuietRow = (zone: string): Row => ({
  from: "22:00",
  to: "08:00",
  zone,
  ...Object.fromEntries(DAYS.map((day) => [dayColumn(day), true])),
  except: "",
});

/** Chat links: one object of one member each. */
export function chatRows(text: string): Row[] | null {
  const parsed = parseOption("Chats", text);
  if (!parsed.ok) return null;
  return parsed.value.flatMap((entry) => Object.entries(entry).map(([name, url]) => ({ name, url })));
}

export const chatText = (rows: readonly Row[]): string =>
  laidOut(rows.map((row) => ({ [String(row["name"])]: String(row["url"]) })));

/** Payment methods: name, type, colour and, where there is one, the least amount. */
export function payMethodRows(text: string): Row[] | null {
  const parsed = parseOption("PayMethods", text);
  if (!parsed.ok) return null;
  return parsed.value.map(({ name, type, color, min_topup }) => ({
    name,
    type,
    color,
    min_topup: min_topup === undefined ? "" : String(min_topup),
  }));
}

export const payMethodText = (rows: readonly Row[]): string =>
  laidOut(
    rows.map(({ name, type, color, min_topup }) => {
      const least = String(min_topup ?? "").trim();
      return {
        name: String(name).trim(),
        type: String(type).trim(),
        color: String(color).trim(),
        ...(least !== "" && { min_topup: numberOr(least) }),
      };
    }),
  );
