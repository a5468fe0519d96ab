/**
 * The two shapes in which the family of new-api answers lists of tokens, channels, drawings and tasks: a bare array
 * with `p` from 0 until spring 2025, `{items, total, page, page_size}` with `p` from 1 since July 2025 (new-api
 * common/page_info.go, read 2026-11). docs/compatibility.md has all that differs.
 */
export const API_GENERATIONS = ["2025-04", "2025-07"] as const;
export type ApiGeneration = (typeof API_GENERATIONS)[number];

/** A request's own choice, before the option ApiGeneration. */
export const GENERATION_HEADER = "weir-api-generation";

export type ListShape = "array" | "page";

/** What a request gets: by `?shape=`, by its header, else by the option. Unknown words choose nothing. */
export function listShape(shape: string | null, header: string | null, option: ApiGeneration): ListShape {
  if (shape === "array" || shape === "page") return shape;
  const generation = API_GENERATIONS.find((known) => known === header?.trim()) ?? option;
  return generation === "2025-04" ? "array" : "page";
}
