/** The kinds of options: each factory combines the parser and the printer of one kind with an entry's declaration. */
import type { Text } from "../text";

export type Parsed<Value> = { ok: true; value: Value } | { ok: false; problem: Text };
export type OptionKind =
  | "flag"
  | "int"
  | "decimal"
  | "text"
  | "link"
  | "address"
  | "long"
  | "secret"
  | "choice"
  | "lines"
  | "list"
  | "json";
export type Card =
  | "general"
  | "relay"
  | "drawing"
  | "sensitive"
  | "log"
  | "dashboard"
  | "monitoring"
  | "quota"
  | "chat"
  | "group"
  | "ratelimit"
  | "pricing"
  | "models"
  | "server"
  | "worker"
  | "payment"
  | "login"
  | "email"
  | "smtp"
  | "github"
  | "wechat"
  | "telegram"
  | "turnstile"
  | "linuxdo"
  | "oidc"
  | "alert"
  | "content";

/** One option. Everything on the wire is text; `parse` and `print` are the only way to and from the typed value. */
export interface Option<Value> {
  readonly kind: OptionKind;
  /** The text when nothing was ever set. */
  readonly default: string;
  readonly card: Card;
  readonly label: Text;
  readonly hint?: Text;
  readonly unit?: Text;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly string[];
  /** The name under which GET /api/status shows the typed value. */
  readonly public?: string;
  /** Write only: never sent to a client. */
  readonly secret: boolean;
  /** Set by a signed-in user only, not by a system access token. */
  readonly person?: boolean;
  /** Keys that must have a text before this option may be switched on or filled. */
  readonly needs: readonly string[];
  parse(text: string): Parsed<Value>;
  print(value: Value): string;
}

interface More {
  readonly person?: boolean;
  readonly hint?: Text;
  readonly unit?: Text;
  readonly public?: string;
  readonly needs?: readonly string[];
}

interface Limits extends More {
  readonly min: number;
  readonly max: number;
}

const good = <Value>(value: Value): Parsed<Value> => ({ ok: true, value });
const bad = (zh: string, en: string): { ok: false; problem: Text } => ({ ok: false, problem: { zh, en } });

type Codec<Value> = Pick<Option<Value>, "parse" | "print">;

function declare<Value>(
  kind: OptionKind,
  text: string,
  [card, zh, en]: readonly [Card, string, string],
  more: More & { choices?: readonly string[]; min?: number; max?: number } = {},
  codec: Codec<Value>,
): Option<Value> {
  return { needs: [], ...more, kind, default: text, card, label: { zh, en }, secret: kind === "secret", ...codec };
}

/** A switch: "true" or "false". */
export function flag(value: boolean, card: Card, zh: string, en: string, more: More = {}): Option<boolean> {
  return declare("flag", String(value), [card, zh, en], more, {
    parse(text) {
      const word = text.trim().toLowerCase();
      if (word !== "true" && word !== "false") return bad("请输入 true 或 false", "Enter true or false");
      return good(word === "true");
    },
    print: String,
  });
}

function inRange(value: number, { min, max }: Limits): Parsed<number> {
  if (value < min) return bad(`不能小于 ${min}`, `Must be at least ${min}`);
  if (value > max) return bad(`不能大于 ${max}`, `Must be at most ${max}`);
  return good(value);
}

/** A whole number within limits (both inclusive). */
export function int(value: number, card: Card, zh: string, en: string, more: Limits): Option<number> {
  return declare("int", String(value), [card, zh, en], more, {
    parse(text) {
      if (!/^[+-]?\d{1,16}(\.0+)?$/.test(text.trim())) return bad("请输入整数", "Enter a whole number");
      return inRange(Number(text), more);
    },
    print: String,
  });
}

/** A decimal number within limits (both inclusive); at most 15 digits, so that the number is exactly the text. */
export function decimal(value: string, card: Card, zh: string, en: string, more: Limits): Option<number> {
  return declare("decimal", value, [card, zh, en], more, {
    parse(text) {
      const digits = text.trim();
      if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(digits)) return bad("请输入数字", "Enter a number");
      if (digits.replace(/[^\d]/g, "").replace(/^0+/, "").length > 15) return bad("数字位数过多", "Too many digits");
      return inRange(Number(digits), more);
    },
    print: String,
  });
}

function bounded(text: string, most: number): Parsed<string> {
  return text.length > most ? bad(`不能超过 ${most} 个字符`, `At most ${most} characters`) : good(text);
}

const asIs = (value: string): string => value;

/** A short text, trimmed. */
export function string(
  value: string,
  card: Card,
  zh: string,
  en: string,
  more: More & { required?: boolean } = {},
): Option<string> {
  const { required = false, ...rest } = more;
  return declare("text", value, [card, zh, en], rest, {
    parse(text) {
      if (required && text.trim() === "") return bad("不能为空", "Must not be empty");
      return bounded(text.trim(), 2000);
    },
    print: asIs,
  });
}

/** A text of any length: Markdown, HTML or an address to be framed. */
export function longText(card: Card, zh: string, en: string, more: More = {}): Option<string> {
  return declare("long", "", [card, zh, en], more, { parse: (text) => bounded(text, 500_000), print: asIs });
}

/** Schemes of addresses that a browser runs, or shows as a page of this site. */
const PAGES_OF_THEIR_OWN = ["javascript:", "vbscript:", "blob:", "filesystem:"];

/**
 * Whether a text is an absolute address that no browser runs as a script (tabs and line breaks in it do not help); of
 * data: addresses only pictures.
 */
export function isHarmlessUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname } = new URL(text);
  return protocol === "data:" ? /^image\//i.test(pathname) : !PAGES_OF_THEIR_OWN.includes(protocol);
}

/** A link for people: http(s), a path of this site, or an application's own scheme; never a script. */
export function link(card: Card, zh: string, en: string, more: More = {}): Option<string> {
  return declare("link", "", [card, zh, en], more, {
    parse(text) {
      const url = text.trim();
      if (url !== "" && !url.startsWith("/") && !isHarmlessUrl(url))
        return bad("请输入合法的链接", "Enter a valid link");
      return bounded(url, 200_000);
    },
    print: asIs,
  });
}

/** The address of a server: http(s), without trailing slashes. */
export function address(card: Card, zh: string, en: string, more: More = {}): Option<string> {
  return declare("address", "", [card, zh, en], more, {
    parse(text) {
      const url = text.trim().replace(/\/+$/, "");
      if (url === "" || (/^https?:\/\//i.test(url) && URL.canParse(url))) return bounded(url, 2000);
      return bad("地址必须以 http:// 或 https:// 开头", "The address must begin with http:// or https://");
    },
    print: asIs,
  });
}

/** A secret: write only, "" when not set. */
export function secret(card: Card, zh: string, en: string, more: More = {}): Option<string> {
  return declare("secret", "", [card, zh, en], more, { parse: (text) => bounded(text.trim(), 10_000), print: asIs });
}

/** A secret with a structure: its codec reads "" as its empty value. */
export function sealed<Value>(card: Card, zh: string, en: string, codec: Codec<Value>, more: More = {}): Option<Value> {
  return declare("secret", "", [card, zh, en], more, codec);
}

/** One of a few words. */
export function choice<const Choice extends string>(
  value: NoInfer<Choice>,
  choices: readonly Choice[],
  card: Card,
  zh: string,
  en: string,
  more: More = {},
): Option<Choice> {
  return declare<Choice>(
    "choice",
    value,
    [card, zh, en],
    { ...more, choices },
    {
      parse(text) {
        const chosen = choices.find((candidate) => candidate === text.trim());
        return chosen ? good(chosen) : bad(`可选值：${choices.join("、")}`, `One of ${choices.join(", ")}`);
      },
      print: asIs,
    },
  );
}

function separated(kind: "lines" | "list", separator: string, splitter: RegExp) {
  return (value: string, card: Card, zh: string, en: string, more: More = {}): Option<string[]> =>
    declare(kind, value, [card, zh, en], more, {
      parse(text) {
        const entries = text.split(splitter).map((entry) => entry.trim());
        return good([...new Set(entries.filter((entry) => entry !== ""))]);
      },
      print: (entries) => entries.join(separator),
    });
}

/** One entry per line; empty and repeated lines are dropped. */
export const lines = separated("lines", "\n", /\r?\n/);

/** Entries joined by commas; empty and repeated ones are dropped. */
export const list = separated("list", ",", /[,，\s]+/);

/** What is wrong inside valid JSON, and the key or value at fault (the line is found by it). */
export type ShapeProblem = Text & { readonly at?: string };
/** Checks a JSON value and returns it with its type. */
export type Shape<Value> = (value: unknown) => { value: Value } | ShapeProblem;

function lineOf(json: string, at: string): number | undefined {
  const found = json.indexOf(JSON.stringify(at));
  return found < 0 ? undefined : json.slice(0, found).split("\n").length;
}

/** A JSON value of a checked shape. Its text is always valid JSON, never "". */
export function jsonOption<Value>(
  value: Value,
  shape: Shape<Value>,
  card: Card,
  zh: string,
  en: string,
  more: More = {},
): Option<Value> {
  return declare("json", JSON.stringify(value), [card, zh, en], more, {
    parse(text) {
      let json: unknown;
      try {
        json = JSON.parse(text);
      } catch {
        return bad("不是合法的 JSON 字符串", "Not a valid JSON string");
      }
      const checked = shape(json);
      if ("value" in checked) return good(checked.value);
      const line = checked.at === undefined ? undefined : lineOf(text, checked.at);
      if (line === undefined) return bad(checked.zh, checked.en);
      return bad(`第 ${line} 行“${checked.at}”：${checked.zh}`, `Line ${line}, "${checked.at}": ${checked.en}`);
    },
    print: (entries) => JSON.stringify(entries),
  });
}
