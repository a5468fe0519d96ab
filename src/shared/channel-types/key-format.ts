/**
 * The form of a channel's key, declared once per channel type: the hint in the form, the validator and the splitter all
 * read the same declaration.
 */
import type { Text } from "../text";

export interface KeyFormat {
  /** `text`: labelled parts joined by `separator`; `json`: one JSON object. */
  readonly kind: "text" | "json";
  /** What the form shows, for example `APPID|APISecret|APIKey`. */
  readonly hint: Text;
  readonly separator: string;
  /**
   * The accepted shapes, the preferred one first: part name to label, in the order of the text. For `json` the names
   * are the required members.
   */
  readonly shapes: readonly Readonly<Record<string, string>>[];
  /** For `json`: the member whose members count like those of the object itself, where there is one. */
  readonly within?: string;
  /** One opaque key of this form is accepted instead of JSON; its part is named `api_key`. */
  readonly plain?: { readonly pattern: RegExp; readonly label: string };
  /** The key may be empty (servers without authentication). */
  readonly optional: boolean;
  /** Parts that are sent upstream as headers: header name to part name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts of one key by name, for example `{ app_id, api_secret, api_key }`. */
export type KeyParts = Readonly<Record<string, string>>;

const same = (text: string): Text => ({ zh: text, en: text });

/** One opaque key; its part is named `api_key`. */
export function plainKey(hint: string | Text = "API Key", optional = false): KeyFormat {
  return {
    kind: "text",
    hint: typeof hint === "string" ? same(hint) : hint,
    separator: "",
    shapes: [{ api_key: "API Key" }],
    optional,
    headers: {},
  };
}

/** Labelled parts joined by `separator`; further shapes are accepted besides the first, each of another length. */
export function joinedKey(
  separator: string,
  shapes: readonly [Record<string, string>, ...Record<string, string>[]],
  headers: Record<string, string> = {},
): KeyFormat {
  const hint = Object.values(shapes[0]).join(separator);
  return { kind: "text", hint: same(hint), separator, shapes, optional: false, headers };
}

/**
 * A JSON object with at least these members, as downloaded from the vendor; or, where there is a `plain` one, a key of
 * that form.
 */
export function jsonKey(
  hint: Text,
  members: readonly string[],
  { plain, within }: Pick<KeyFormat, "plain" | "within"> = {},
): KeyFormat {
  const shape = Object.fromEntries(members.map((name) => [name, name]));
  return {
    kind: "json",
    hint,
    separator: "",
    shapes: [shape],
    optional: false,
    headers: {},
    ...(plain && { plain }),
    ...(within !== undefined && { within }),
  };
}

function piecesOf(separator: string, key: string): string[] {
  if (separator === "") return [key];
  if (separator !== "-") return key.split(separator).map((piece) => piece.trim());
  // Keys may contain hyphens: only the last one separates.
  const at = key.lastIndexOf("-");
  return at < 0 ? [key] : [key.slice(0, at), key.slice(at + 1)];
}

/** A region becomes part of a host's name: no other characters are accepted. */
export const isRegion = (text: string): boolean => /^[a-z0-9-]+$/.test(text);

function splitText(format: KeyFormat, key: string): KeyParts | undefined {
  const pieces = piecesOf(format.separator, key);
  const shape = format.shapes.find((candidate) => Object.keys(candidate).length === pieces.length);
  if (!shape || pieces.includes("")) return undefined;
  const parts = Object.fromEntries(Object.keys(shape).map((name, index) => [name, pieces[index] ?? ""]));
  return parts.region === undefined || isRegion(parts.region) ? parts : undefined;
}

function splitJson(format: KeyFormat, key: string): KeyParts | undefined {
  if (format.plain?.pattern.test(key)) return { api_key: key };
  let value: unknown;
  try {
    value = JSON.parse(key);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const inner: unknown = format.within === undefined ? undefined : Reflect.get(value, format.within);
  const all = typeof inner === "object" && inner !== null ? { ...value, ...inner } : value;
  const parts = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  const members = Object.keys(format.shapes[0] ?? {});
  return members.every((name) => parts[name]) ? parts : undefined;
}

/**
 * Splits a key by its format. JSON keys give all their text members. Undefined when the key does not have the form;
 * an empty optional key gives no parts.
 */
export function splitByFormat(format: KeyFormat, key: string): KeyParts | undefined {
  const text = key.trim();
  if (text === "") return format.optional ? {} : undefined;
  return format.kind === "json" ? splitJson(format, text) : splitText(format, text);
}

const REGION_FORM: Text = {
  zh: "，区域只能包含小写字母、数字和连字符",
  en: "; a region has lower-case letters, digits and hyphens only",
};

/** The reason why a key does not have the form of its channel type, or undefined when it has. Never repeats the key. */
export function problemByFormat(format: KeyFormat, key: string): Text | undefined {
  if (splitByFormat(format, key)) return undefined;
  if (key.trim() === "") return { zh: "请填写密钥", en: "Please enter the key" };
  if (format.kind === "json") {
    const members = Object.keys(format.shapes[0] ?? {}).join(", ");
    const other = format.plain?.label;
    return {
      zh: `密钥必须是合法的 JSON，并包含 ${members}${other ? `；或者是一个 ${other}` : ""}`,
      en: `The key must be valid JSON with ${members}${other ? `, or an ${other}` : ""}`,
    };
  }
  const forms = format.shapes.map((shape) => Object.values(shape).join(format.separator));
  const region = format.shapes.some((shape) => shape.region !== undefined) ? REGION_FORM : { zh: "", en: "" };
  return {
    zh: `密钥格式应为 ${forms.join(" 或 ")}${region.zh}`,
    en: `The key must have the form ${forms.join(" or ")}${region.en}`,
  };
}
