/**
 * What people see of the options: the registry without what reads and checks their texts, which needs the schema of
 * every JSON option. The console's build takes the value of this module instead of its code
 * (scripts/plugins/console-constants.ts).
 */
import { option, type Option, type OptionKey, optionKeys } from "./options";

export { optionKeys };

/** An option without its codec. The default of a JSON option is left out: price tables are long. */
export type OptionFacts = Omit<Option<unknown>, "parse" | "print" | "default"> & { readonly default?: string };

function factsOf(key: OptionKey): OptionFacts {
  const { parse: _parse, print: _print, default: text, ...facts } = option(key);
  return facts.kind === "json" ? facts : { ...facts, default: text };
}

/** The facts of all options in registry order. */
// Every key has an entry, by the line itself.
export const optionFacts = Object.fromEntries(optionKeys.map((key) => [key, factsOf(key)])) as Readonly<
  Record<OptionKey, OptionFacts>
>;
