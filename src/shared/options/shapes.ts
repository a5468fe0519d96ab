/** The shapes of the JSON options. */
import { headerProblem } from "../header-override";
import type { ContextTier, ContextTiers } from "../long-context";
import { GROUP_ROUTINGS, type GroupRouting } from "../score-factors";
import { isHarmlessUrl, type Shape, type ShapeProblem } from "./kinds";

type Entries = Record<string, unknown>;

const problem = (zh: string, en: string, at?: string): ShapeProblem => ({ zh, en, ...(at !== undefined && { at }) });

function isObject(value: unknown): value is Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const notAnObject = problem("必须是 JSON 对象", "Must be a JSON object");
const notAList = problem("必须是 JSON 数组", "Must be a JSON list");

/** An object whose every member passes `check`; the first one that does not is reported. */
function objectOf<Value>(
  check: (value: unknown, name: string) => value is Value,
  wrong: (name: string) => ShapeProblem,
): Shape<Record<string, Value>> {
  return (value) => {
    if (!isObject(value)) return notAnObject;
    const checked: Record<string, Value> = {};
    for (const [name, member] of Object.entries(value)) {
      if (name.trim() === "") return problem("名称不能为空", "Names must not be empty", name);
      if (!check(member, name)) return wrong(name);
      // Not a plain assignment: a member called __proto__ must stay a member.
      Object.defineProperty(checked, name, { value: member, enumerable: true, writable: true, configurable: true });
    }
    return { value: checked };
  };
}

const isRatio = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 && value <= 1e9;
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
const isText = (value: unknown): value is string => typeof value === "string";

const wrongRatio = (name: string) => problem("必须是不小于 0 的数字", "Must be a number of at least 0", name);
const wrongCount = (name: string) => problem("必须是大于 0 的整数", "Must be a whole number above 0", name);
const wrongText = (name: string) => problem("必须是文本", "Must be a text", name);

/** name -> number of at least 0. */
export function numberMap({ notEmpty = false, whole = false } = {}): Shape<Record<string, number>> {
  const shape = whole ? objectOf(isCount, wrongCount) : objectOf(isRatio, wrongRatio);
  return (value) => {
    if (notEmpty && isObject(value) && Object.keys(value).length === 0) {
      return problem("至少需要一项", "At least one entry is needed");
    }
    return shape(value);
  };
}

/** name -> text. */
export function textMap(): Shape<Record<string, string>> {
  return objectOf(isText, wrongText);
}

/** group -> how its channels are chosen from. */
export function routingMap(): Shape<Record<string, GroupRouting>> {
  const isRouting = (value: unknown): value is GroupRouting => GROUP_ROUTINGS.some((one) => one === value);
  const words = GROUP_ROUTINGS.join(", ");
  return objectOf(isRouting, (name) => problem(`必须是 ${words} 之一`, `Must be one of ${words}`, name));
}

/** model -> version of an API, a segment of its address. */
export function apiVersions(): Shape<Record<string, string>> {
  const isVersion = (value: unknown): value is string => isText(value) && /^v\d[\w.]{0,30}$/.test(value);
  return objectOf(isVersion, (name) => problem("必须形如 v1 或 v1beta", "Must look like v1 or v1beta", name));
}

const THRESHOLDS = ["OFF", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE"];

/** "default" or a category of harm -> threshold (ai.google.dev/api/generate-content, SafetySetting; November 2026). */
export function safetySettings(): Shape<Record<string, string>> {
  const fits = (value: unknown, name: string): value is string =>
    (name === "default" || name.startsWith("HARM_CATEGORY_")) && THRESHOLDS.some((one) => one === value);
  return objectOf(fits, (name) =>
    problem(
      `名称须为 default 或 HARM_CATEGORY_…，值须为 ${THRESHOLDS.join("、")} 之一`,
      `The name must be default or HARM_CATEGORY_…, the value one of ${THRESHOLDS.join(", ")}`,
      name,
    ),
  );
}

const single = (value: unknown): string | undefined => {
  const values = Array.isArray(value) ? value : [value];
  return values.length > 0 && values.every((one) => isText(one) && one !== "") ? values.join(",") : undefined;
};

/** model -> header -> a text or a list of texts. */
export function modelHeaders(): Shape<Record<string, Record<string, string | string[]>>> {
  const fits = (value: unknown): value is Record<string, string | string[]> => {
    if (!isObject(value)) return false;
    const texts = Object.entries(value).map(([name, member]) => [name, single(member)] as const);
    return texts.every(([, text]) => text !== undefined) && headerProblem(Object.fromEntries(texts)) === undefined;
  };
  return objectOf(fits, (name) =>
    problem(
      "必须是 {请求头: 值或值的列表}，请求头须可改写",
      "Must be {header: value or list of values} of headers that may be set",
      name,
    ),
  );
}

/** user group -> { used group: ratio }. */
export function mapOfMaps(): Shape<Record<string, Record<string, number>>> {
  const inner = numberMap();
  return (value) => {
    if (!isObject(value)) return notAnObject;
    const checked: Record<string, Record<string, number>> = {};
    for (const [name, member] of Object.entries(value)) {
      const group = inner(member);
      if (!("value" in group)) return group.at === undefined ? { ...group, at: name } : group;
      Object.defineProperty(checked, name, {
        value: group.value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return { value: checked };
  };
}

const isFactor = (value: unknown): value is number => isRatio(value) && value > 0 && value <= 1000;

/** model -> [{ over, input, output }]: how prices rise with the length of the input. The tiers come out sorted. */
export function contextTiers(): Shape<Readonly<Record<string, ContextTiers>>> {
  const wrong = (name: string) =>
    problem(
      "每一档须为 {over, input, output}：over 是大于 0 的整数且互不相同，input 与 output 是大于 0 的倍数",
      "Every tier must be {over, input, output}: over a whole number above 0 that stands once, input and output factors above 0",
      name,
    );
  const isTiers = (value: unknown): value is ContextTier[] =>
    Array.isArray(value) &&
    value.length <= 20 &&
    new Set(value.map((tier) => (isObject(tier) ? tier.over : tier))).size === value.length &&
    value.every(
      (tier) =>
        isObject(tier) &&
        Number.isSafeInteger(tier.over) &&
        Number(tier.over) > 0 &&
        isFactor(tier.input) &&
        isFactor(tier.output),
    );
  const shape = objectOf(isTiers, wrong);
  return (value) => {
    const checked = shape(value);
    if (!("value" in checked)) return checked;
    for (const tiers of Object.values(checked.value)) tiers.sort((a, b) => a.over - b.over);
    return checked;
  };
}

/** A list of different names. */
export function listOfNames(): Shape<string[]> {
  return (value) => {
    if (!Array.isArray(value)) return notAList;
    const names: string[] = [];
    for (const name of value) {
      if (!isText(name) || name.trim() === "") return problem("每一项必须是非空文本", "Every entry must be a text");
      if (names.includes(name)) return problem("重复", "Stands twice", name);
      names.push(name);
    }
    return { value: names };
  };
}

/** The chat links: a list of objects with one member, name -> address. */
export function chatLinks(): Shape<Record<string, string>[]> {
  return (value) => {
    if (!Array.isArray(value)) return notAList;
    const links: Record<string, string>[] = [];
    for (const entry of value) {
      const [name, ...others] = isObject(entry) ? Object.keys(entry) : [];
      if (!isObject(entry) || name === undefined || others.length > 0) {
        return problem('每一项必须形如 {"名称": "链接"}', 'Every entry must look like {"name": "link"}', others[0]);
      }
      const url = entry[name];
      // A data: address would be framed as a page of ours.
      if (!isText(url) || !isHarmlessUrl(url) || new URL(url).protocol === "data:") {
        return problem("链接不合法", "Not a valid link", name);
      }
      links.push({ [name]: url });
    }
    return { value: links };
  };
}

export interface PayMethod {
  readonly name: string;
  /** The payment gateway's name of the method. */
  readonly type: string;
  readonly color: string;
  readonly min_topup?: number;
}

/** The payment methods: a list of { name, type, color }, each type once. */
export function payMethods(): Shape<PayMethod[]> {
  return (value) => {
    if (!Array.isArray(value)) return notAList;
    const methods: PayMethod[] = [];
    for (const entry of value) {
      const { name, type, color = "", min_topup } = isObject(entry) ? entry : {};
      if (!isText(name) || name === "" || !isText(type) || type === "" || !isText(color)) {
        const at = isText(name) ? name : isText(type) ? type : undefined;
        return problem("每一项须有 name、type、color", "Every entry needs name, type and color", at);
      }
      const smallest = Number(min_topup);
      if (min_topup !== undefined && !(smallest >= 1)) {
        return problem("min_topup 必须不小于 1", "min_topup must be 1 or more", name);
      }
      if (methods.some((method) => method.type === type)) return problem("重复", "Stands twice", type);
      methods.push({ name, type, color, ...(min_topup !== undefined && { min_topup: smallest }) });
    }
    return { value: methods };
  };
}

/** group -> [requests, successful requests] per period. */
export function rateLimitGroups(): Shape<Record<string, number[]>> {
  const isPair = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length === 2 && value.every((count) => Number.isSafeInteger(count) && count >= 0);
  return objectOf(isPair, (name) =>
    problem("必须是 [总次数, 成功次数]", "Must be [requests, successful requests]", name),
  );
}
