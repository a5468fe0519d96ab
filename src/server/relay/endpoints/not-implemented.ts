/** Paths of the OpenAI API that Weir knows but does not serve: they get an error that says so, not a plain 404. */

/** Exact paths, and prefixes that end in `*`. */
export const unservedRoutes: readonly string[] = [
  "POST /v1/edits",
  "DELETE /v1/models/*",
  ...["GET", "POST", "DELETE"].flatMap((method) => [`${method} /v1/fine-tunes`, `${method} /v1/fine-tunes/*`]),
  ...["GET", "POST"].flatMap((method) => [`${method} /v1/fine_tuning/*`]),
];

const exact = new Set(unservedRoutes.filter((route) => !route.endsWith("*")));
const beginnings = unservedRoutes.filter((route) => route.endsWith("*")).map((route) => route.slice(0, -1));

export function isUnserved(method: string, path: string): boolean {
  const line = `${method} ${path}`;
  return (
    exact.has(line) || beginnings.some((beginning) => line.startsWith(beginning) && line.length > beginning.length)
  );
}
