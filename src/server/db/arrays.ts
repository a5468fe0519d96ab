/** Arrays as Postgres reads them from text (PostgreSQL 18 documentation, 8.15.6 Array Input and Output Syntax). */
import { withoutNul } from "./sql";

/** Text that Postgres takes in JSON and arrays: without NUL and lone surrogates. */
export const postgresText = (text: string): string => withoutNul(text.isWellFormed() ? text : text.toWellFormed());

export const numberArray = (numbers: readonly number[]): string => `{${numbers.join(",")}}`;

export const textArray = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${postgresText(text).replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
