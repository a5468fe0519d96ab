/** Options, read from memory and written through the database. */
import type { OptionKey, OptionValue } from "../../shared/options";

export interface OptionStore {
  /** The typed value now. */
  get<K extends OptionKey>(key: K): OptionValue<K>;
  /** The text now, as in the database or the registry's default. Secrets in clear: do not let it out. */
  text(key: OptionKey): string;
  /** Checks, stores, announces to every instance. Throws option_unknown, option_invalid, option_needs. */
  set(key: string, text: string): Promise<void>;
  /**
   * Calls `listener` at every change, here or elsewhere; prices and pools rebuild on it. Returns the unsubscribe
   * function.
   */
  onChange(listener: () => void): () => void;
  reload(): Promise<void>;
}
