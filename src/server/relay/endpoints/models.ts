/**
 * GET /v1/models and /v1/models/{model}: what this caller may call, read from the pool without an upstream call, in the
 * shape that the caller's SDK reads.
 */
import { knownModels } from "../../../shared/channel-types";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Caller } from "../../contracts/caller";

const owners = new Map(knownModels().map(({ id, owned_by }) => [id, owned_by]));

/** A fixed `created` time: Weir does not know when a model was released. */
const CREATED = 1626777600;
const CREATED_AT = new Date(CREATED * 1000).toISOString();

/** The vendor whose list format is returned. */
export type ListShape = "openai" | "anthropic" | "gemini";

/** Anthropic's SDK sends its API version, Google's sends the key in its own header or query parameter. */
export function listShape(request: Request): ListShape {
  if (request.headers.has("anthropic-version")) return "anthropic";
  const { search, pathname } = new URL(request.url);
  if (/^\/v1(?:beta|alpha)\/models/.test(pathname)) return "gemini";
  return request.headers.has("x-goog-api-key") || new URLSearchParams(search).has("key") ? "gemini" : "openai";
}

const openai = (id: string) => ({
  id,
  object: "model" as const,
  created: CREATED,
  owned_by: owners.get(id) ?? "custom",
});
const anthropic = (id: string) => ({ type: "model" as const, id, display_name: id, created_at: CREATED_AT });
const gemini = (id: string) => ({
  name: `models/${id}`,
  version: "001",
  displayName: id,
  supportedGenerationMethods: ["generateContent", "streamGenerateContent", "countTokens"],
});

export type ModelEntry = ReturnType<typeof openai> | ReturnType<typeof anthropic> | ReturnType<typeof gemini>;

const entries: Readonly<Record<ListShape, (id: string) => ModelEntry>> = { openai, anthropic, gemini };
const lists: Readonly<Record<ListShape, (names: readonly string[]) => object>> = {
  openai: (names) => ({ object: "list", success: true, data: names.map(openai) }),
  anthropic: (names) => ({
    data: names.map(anthropic),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  }),
  gemini: (names) => ({ models: names.map(gemini) }),
};

/** Names of the models in the caller's group; with group auto, in any of its groups. */
const modelsOf = ({ pool }: ControlPlane, { group, groups }: Caller): readonly string[] =>
  groups ? [...new Set(groups.flatMap((name) => pool.models(name)))].sort() : pool.models(group);

/** Models that an enabled channel serves in the caller's group and that the caller's token allows. */
export function listModels(controlPlane: ControlPlane, caller: Caller, shape: ListShape = "openai"): object {
  const names = modelsOf(controlPlane, caller).filter((name) => !caller.models || caller.models.has(name));
  return lists[shape](names);
}

/** One model, undefined when the caller may not call it. */
export function findModel(
  controlPlane: ControlPlane,
  caller: Caller,
  name: string,
  shape: ListShape = "openai",
): ModelEntry | undefined {
  if (caller.models && !caller.models.has(name)) return undefined;
  return modelsOf(controlPlane, caller).includes(name) ? entries[shape](name) : undefined;
}
