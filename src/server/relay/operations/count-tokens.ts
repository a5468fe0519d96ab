/**
 * POST /v1/messages/count_tokens (Anthropic) and :countTokens (Gemini): free, and without a row. A channel that speaks the
 * caller's dialect is asked; where there is none, or it fails, the answer is an estimate and says so.
 */
import { fail } from "../../../shared/errors";
import { inputTokenBound, parseBody, readBody } from "../body";
import type { Engine } from "../call";
import { isObject, tryParse, withMembers } from "../json";
import { BYTES_PER_TOKEN } from "../money";
import { providerOf } from "../providers/registry";
import { headersOf } from "../providers/rewrite";
import type { Caller, PoolChannel } from "../seams";
import type { Bytes } from "../sse";
import { readModel } from "./operation";

/** How a dialect counts. */
export interface TokenCounter {
  readonly dialect: "anthropic" | "gemini";
  /** What the address of a call becomes. */
  address(url: string): string;
  /** The member that holds the count. */
  readonly member: "input_tokens" | "totalTokens";
}

export const anthropicCounter: TokenCounter = {
  dialect: "anthropic",
  address: (url) => `${url}/count_tokens`,
  member: "input_tokens",
};

export const geminiCounter: TokenCounter = {
  dialect: "gemini",
  address: (url) => url.replace(/:generateContent$/, ":countTokens"),
  member: "totalTokens",
};

/** Longest wait for a vendor's count. */
const COUNT_MS = 10_000;

/**
 * The answer's body. `named` is the model where the path names it. Throws what a call of that model would: model_missing,
 * token_model_denied, model_not_found, bad_json, body_too_large.
 */
export async function countTokens(
  engine: Engine,
  caller: Caller,
  request: Request,
  counter: TokenCounter,
  named: string | undefined,
): Promise<Record<string, unknown>> {
  const { pool, option } = engine.seams;
  const body = await readBody(request, option.maxBodyBytes);
  const parsed = parseBody(body);
  const model = named ?? readModel(parsed);
  if (caller.models && !caller.models.has(model)) fail("token_model_denied", { model });
  const pinned = caller.channel_id === undefined ? undefined : pool.byId(caller.channel_id);
  const candidates = pinned?.enabled ? [pinned.channel] : caller.channel_id === undefined ? pool.candidates(caller.group, model) : [];
  if (candidates.length === 0) fail("model_not_found", { group: caller.group, model });
  const own = candidates.filter(({ type }) => type.dialect === counter.dialect);
  const [channel] = own.toSorted((a, b) => b.priority - a.priority);
  const count = channel && (await ask(engine, channel, counter, model, body));
  if (count !== undefined) return { [counter.member]: count };
  return { [counter.member]: Math.ceil(inputTokenBound(body) / BYTES_PER_TOKEN), estimated: true };
}

/** What the channel counts; undefined when it does not answer as it should. */
async function ask(engine: Engine, channel: PoolChannel, counter: TokenCounter, model: string, body: Bytes): Promise<number | undefined> {
  const mapped = channel.model_mapping.get(model) ?? model;
  const provider = providerOf(channel);
  const url = provider?.url(channel, "chat", mapped);
  if (!provider || url === undefined) return undefined;
  const { proxy } = channel.setting;
  try {
    const response = await engine.fetch(counter.address(url), {
      method: "POST",
      headers: { ...headersOf(provider, channel), "content-type": "application/json", accept: "application/json" },
      body: mapped !== model && counter.dialect === "anthropic" ? withMembers(body, { model: mapped }) : body,
      signal: AbortSignal.timeout(COUNT_MS),
      redirect: "manual",
      ...(proxy !== undefined && { proxy }),
    });
    const answer = response.ok ? tryParse(new Uint8Array(await response.arrayBuffer())) : undefined;
    const count = isObject(answer) ? answer[counter.member] : undefined;
    return typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : undefined;
  } catch {
    // A count that cannot be had is estimated.
    return undefined;
  }
}
