/** Words that no request may contain. */

export interface WordList {
  /** Whether one of the words occurs in the text. */
  occursIn(text: string): boolean;
  /** The text with a mask in place of each word; of overlapping words the first is masked. */
  mask(text: string): string;
}
