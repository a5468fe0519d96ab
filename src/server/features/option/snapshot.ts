/** Values of options that every call reads. */
import type { OptionStore } from "../../contracts/option-store";

/**
 * Returns the members of `live`, a record of getters over options, as plain values: a getter asks the store, and a call
 * reads some thirty. They are read again after a change of any option.
 */
export function snapshotOf<Values extends object>(options: Pick<OptionStore, "version">, live: Values): () => Values {
  let values = { ...live };
  let { version } = options;
  return () => {
    if (version !== options.version) {
      ({ version } = options);
      values = { ...live };
    }
    return values;
  };
}
