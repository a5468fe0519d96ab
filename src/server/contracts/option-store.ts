/** Options, read from memory and written through the database. */
import type { OptionKey, OptionValue } from "../../shared/options";
import type { Steps } from "../db/transaction";
import type { Q } from "../db/types";

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
   * The same for several that belong together: all of them or none, and no reader sees a part. `within`: further steps
   * of the transaction; what they throw undoes everything.
   */
  setAll(entries: readonly (readonly [key: string, text: string])[], within?: (tx: Q) => Steps<void>): Promise<void>;
  /** Another number after every change, here or on another instance: what is made of several values is made again. */
  readonly version: number;
  reload(): Promise<void>;
}
