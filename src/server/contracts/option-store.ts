/** Options, read from memory and written through the database. */
import type { OptionKey, OptionValue } from "../../shared/options";

export interface OptionStore {
  /** The typed value now. */
  get<K extends OptionKey>(key: K): OptionValue<K>;
  /**
   * The current text, from the database or the registry's default. Secrets are in clear text: never send it to a
   * client.
   */
  text(key: OptionKey): string;
  /** Checks, stores, announces to every instance. Throws option_unknown, option_invalid, option_needs. */
  set(key: string, text: string): Promise<void>;
  /**
   * Calls `listener` at every change, here or on another instance; prices and pools are rebuilt from it. Returns the
   * unsubscribe function.
   */
  onChange(listener: () => void): () => void;
  reload(): Promise<void>;
}
