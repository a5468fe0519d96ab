/** A language of the console and of the server's messages. Chinese is source and fallback. */
export type Lang = "zh" | "en";

/** A text in both languages. Client-only texts use the message catalogue instead. */
export interface Text {
  readonly zh: string;
  readonly en: string;
}

/** What the placeholders of a text stand for. */
export type TextParams = Readonly<Record<string, unknown>>;

/**
 * Fills in the placeholders of a template: `{name}` with its value, `{name:units}` with an amount of units as the
 * reader sees amounts. A part in brackets is left out where the value of its placeholder is absent. `show` writes a
 * value.
 */
export function fillText(
  template: string,
  params: TextParams,
  show: (value: unknown, unit: "units" | undefined) => string = (value) => String(value ?? ""),
): string {
  return template
    .replace(/\[([^\]]*\{(\w+)[^\]]*)\]/g, (_, part: string, name: string) => (params[name] === undefined ? "" : part))
    .replace(/\{(\w+)(?::(units))?\}/g, (_, name: string, unit: "units" | undefined) => show(params[name], unit));
}
