/** A language of the console and of the server's messages. Chinese is source and fallback. */
export type Lang = "zh" | "en";

/** A text in both languages. Client-only texts use the message catalogue instead. */
export interface Text {
  readonly zh: string;
  readonly en: string;
}
