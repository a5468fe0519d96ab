/**
 * Names that the options hold from the first start, in Chinese as specified or in the language of the set-up, for
 * readers of another language. A name that the operator wrote is shown as it was written.
 */
import type { Lang, Text } from "./text";

const KNOWN: readonly Text[] = [
  { zh: "默认分组", en: "Default group" },
  { zh: "VIP 分组", en: "VIP group" },
  { zh: "支付宝", en: "Alipay" },
  { zh: "微信", en: "WeChat Pay" },
];

/** The name in the reader's language where it is one of the defaults, in whichever language they were set up. */
export const knownName = (name: string, lang: Lang): string =>
  KNOWN.find(({ zh, en }) => zh === name || en === name)?.[lang] ?? name;

/** Text of JSON whose default names are in another language. */
export const knownNamesIn = (json: string, lang: Lang): string =>
  JSON.stringify(JSON.parse(json), (_, value: unknown) => (typeof value === "string" ? knownName(value, lang) : value));
