/**
 * The words that no prompt may contain (options CheckSensitiveEnabled, CheckSensitiveOnPromptEnabled, SensitiveWords).
 */
import type { OptionStore } from "../../contracts/option-store";
import { wordList } from "./word-list";
import type { WordList } from "../../contracts/word-list";

/**
 * The current list, undefined when a switch is off or there is no word. Built again when the words change, and only
 * then.
 */
export function sensitiveWords(options: Pick<OptionStore, "get" | "text">): () => WordList | undefined {
  let lines: readonly string[] | undefined;
  let text: string | undefined;
  let list: WordList | undefined;
  return () => {
    if (!options.get("CheckSensitiveEnabled") || !options.get("CheckSensitiveOnPromptEnabled")) return undefined;
    const now = options.get("SensitiveWords");
    if (now !== lines) {
      // A change of any option gives new values for all.
      const written = options.text("SensitiveWords");
      if (written !== text) list = wordList(now);
      text = written;
      lines = now;
    }
    return list;
  };
}
