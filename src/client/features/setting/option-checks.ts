import { useEffect, useState } from "react";
import type { parseOption, printOption } from "../../../shared/options";

/** What reads and checks the texts of options. */
export interface OptionChecks {
  parseOption: typeof parseOption;
  printOption: typeof printOption;
}

let loaded: OptionChecks | undefined;

/** Fetches the checks: they bring every schema along, which a page that is only read does not need. */
export async function loadChecks(): Promise<OptionChecks> {
  loaded ??= await import("../../../shared/options");
  return loaded;
}

/** The checks once they are `wanted` and here. A failed fetch is tried again by what needs them: the save. */
export function useOptionChecks(wanted: boolean): OptionChecks | undefined {
  const [, setArrived] = useState(false);
  useEffect(() => {
    if (!wanted || loaded) return;
    loadChecks().then(
      () => setArrived(true),
      () => undefined,
    );
  }, [wanted]);
  return loaded;
}
