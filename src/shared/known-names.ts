/**
 * Names that the options hold from the first start, in Chinese as specified, for readers of another language. A name
 * that the operator wrote is shown as it was written.
 */
import type { Lang, Text } from "./text";

const KNOWN: readonly Text[] = [
  { zh: "默认分组", en: "Default group" },
  { zh: "VIP 分组", en: "VIP group" },
  { zh: "支付宝", en: "Alipay" },
  { zh: "微信", en: "WeChat Pay" },
];

/** The name in the reader's language where it is one of the defaults. */
export const knownName = (name: string, lang: Lang): string => KNOWN.find(({ zh }) => zh === name)?.[lang] ?? name;
