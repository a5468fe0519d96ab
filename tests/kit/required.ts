import { isEverythingRequired, missingProgram, type Program, PROGRAMS } from "../../scripts/programs";

/**
 * The path of a program that a file's tests need. Without it, undefined: the tests say so and are skipped, but in a CI
 * the file fails.
 */
export function required(
  name: Program,
  { find = PROGRAMS[name].find, isStrict = isEverythingRequired(), say = console.warn } = {},
): string | undefined {
  const path = find();
  if (path !== undefined) return path;
  if (isStrict) throw new Error(`Cannot be tested, and here it must be: ${missingProgram(name)}`);
  say(`SKIPPED: ${missingProgram(name)}`);
  return undefined;
}
