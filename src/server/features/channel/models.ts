/** Model lists: of the registry, of the enabled channels, and of an upstream. */
import type * as z from "zod";
import { type fetchModelsInput, splitKeys } from "../../../shared/channel";
import {
  baseUrlOf,
  type ChannelType,
  channelType,
  channelTypes,
  knownModels,
  planModels,
} from "../../../shared/channel-types";
import { AppError, fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { Ctx, Services, UserCtx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { EGRESS_MAX_BYTES, EGRESS_TIMEOUT_MS, egressFetch, readLimited } from "../../lib/egress";
import { fetchThrough } from "../../lib/proxy";
import type { PoolChannel } from "../../contracts/channel";
import { redact } from "../../relay/providers/redact";
import { loadChannel } from "./keys";
import { findChannel } from "./service";
import { modelNames, unsavedChannel, upstreamHeaders, upstreamInit, upstreamMessage } from "./upstream";

/** GET /api/models: type id -> default models; types without any are left out. */
export function modelsByType(): Record<string, readonly string[]> {
  return Object.fromEntries(
    channelTypes.filter((type) => type.models.length > 0).map((type) => [type.id, type.models]),
  );
}

export interface ModelObject {
  id: string;
  object: "model";
  /** Epoch seconds; the registry has no dates, so always the same. */
  created: number;
  owned_by: string;
}

const REGISTRY_DATE = 1_626_777_600;

/** GET /api/channel/models: every model of the registry, and those that operators typed. */
export function allModels(ctx: Pick<Ctx, "pool">): ModelObject[] {
  const known = knownModels();
  const names = new Set(known.map((model) => model.id));
  const typed = ctx.pool
    .enabledModels()
    .filter((name) => !names.has(name))
    .map((id) => ({ id, owned_by: "custom" }));
  return [...known, ...typed].map(({ id, owned_by }) => ({ id, object: "model", created: REGISTRY_DATE, owned_by }));
}

function listUrl(type: ChannelType, base_url: string): string {
  if (!type.fetch_models) fail("fetch_models_unsupported");
  if (base_url === "") fail("channel_base_url_missing");
  return planModels(base_url) ?? base_url + type.fetch_models.path;
}

function namesOrFail(channel: PoolChannel, status: number, text: string): string[] {
  const { type } = channel;
  if (status < 200 || status >= 300) fail("fetch_models_failed", { detail: upstreamMessage(channel, status, text) });
  const names = type.fetch_models && modelNames(type.fetch_models.shape, text);
  return (
    names?.map((name) => redact(channel, name)) ??
    fail("fetch_models_failed", { detail: upstreamMessage(channel, status, "not a model list") })
  );
}

const reason = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return "timeout";
  return String((error as { code?: unknown }).code ?? error.name);
};

/** The upstream of a stored channel: an administrator typed its address as a channel, so it may be private. */
export const fetchModelsOf = async (ctx: Ctx, id: number): Promise<string[]> =>
  upstreamModels(ctx, await findChannel(ctx, id));

/** The names in the list of a stored channel's upstream. Throws as the form's fetch does. */
export async function upstreamModels(services: Services, row: ChannelRow): Promise<string[]> {
  const type = channelType(row.type) ?? fail("channel_type_unknown", { type: row.type });
  const channel = (await loadChannel(services, row)) ?? fail("channel_key_unreadable");
  return plainFetch(channel, listUrl(type, channel.base_url));
}

const headersOf = (channel: PoolChannel): Record<string, string> =>
  upstreamHeaders(channel) ?? fail("fetch_models_unsupported");

async function plainFetch(channel: PoolChannel, url: string): Promise<string[]> {
  const headers = headersOf(channel);
  try {
    const response = await fetchThrough(url, { ...upstreamInit(channel, EGRESS_TIMEOUT_MS), headers });
    return namesOrFail(channel, response.status, await readLimited(response, EGRESS_MAX_BYTES));
  } catch (error) {
    if (error instanceof AppError) throw error;
    return fail("fetch_models_failed", { detail: reason(error) }, error);
  }
}

/**
 * The upstream of a form that is not saved yet: the typed address goes through the egress policy (C-530), which lets
 * the super administrator ask machines of their own network, as the first channel often is one.
 */
export async function fetchModelsFrom(ctx: UserCtx, input: z.output<typeof fetchModelsInput>): Promise<string[]> {
  const type = channelType(input.type) ?? fail("channel_type_unknown", { type: input.type });
  const [key = ""] = splitKeys(input.type, input.key);
  if (key === "" && !type.key_format.optional) fail("fetch_models_key_missing");
  const channel = unsavedChannel(type, baseUrlOf(input.type, input.base_url), key);
  const url = listUrl(type, channel.base_url);
  // No address was typed: the vendor's own address comes from the registry, not from input.
  if (input.base_url.trim() === "") return plainFetch(channel, url);
  try {
    const answer = await egressFetch(url, {
      headers: headersOf(channel),
      allowPrivate: ctx.env.WEIR_ALLOW_PRIVATE_FETCH || (ctx.actor.role >= ROLE.root && "own"),
    });
    return namesOrFail(channel, answer.status, answer.text);
  } catch (error) {
    if (error instanceof AppError) throw error;
    return fail("fetch_models_failed", { detail: reason(error) }, error);
  }
}
