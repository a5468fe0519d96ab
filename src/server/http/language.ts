/** The language of answers to a request. */
import type { Lang } from "../../shared/text";

/** Chinese unless English comes first (D-78). */
export const languageOf = (headers: Headers): Lang =>
  /^\s*en\b/i.test(headers.get("accept-language") ?? "") ? "en" : "zh";
