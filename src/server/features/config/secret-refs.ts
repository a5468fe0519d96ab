/** Secrets in the configuration file: named, never written. */
import { readFileSync } from "node:fs";
import * as z from "zod";

/** Where a secret is read from: a variable of the environment, or a file whose whole text it is. */
export const secretRef = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
]);
export type SecretRef = z.output<typeof secretRef>;

/** Reads secrets; undefined where nothing is given. */
export type ReadSecret = (ref: SecretRef) => string | undefined;

/** `env`: the environment. An empty value counts as not given; line breaks at a file's end are no part of it. */
export const secretReader =
  (env: Readonly<Record<string, string | undefined>>): ReadSecret =>
  (ref) => {
    if ("env" in ref) return env[ref.env] || undefined;
    try {
      return readFileSync(ref.file, "utf8").replace(/[\r\n]+$/, "") || undefined;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
      throw error;
    }
  };

export const refText = (ref: SecretRef): string => ("env" in ref ? `variable ${ref.env}` : `file ${ref.file}`);

/** The variable that `weir config export` proposes for a secret. */
export const envRef = (...parts: readonly (string | number)[]): SecretRef => ({
  env: parts
    .join("_")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toUpperCase(),
});
