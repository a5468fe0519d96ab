/**
 * Past calls, held and settled by the ledger with the exact price of their usage. The same every time: nothing is
 * random.
 */
import { failureCode } from "../../src/shared/failures";
import { textColumns } from "../../src/shared/log-text";
import type { Services } from "../../src/server/contracts/context";
import { foldBatch } from "../../src/server/features/log/fold";
import { recordFailure } from "../../src/server/features/log/record";
import { requestIdTime } from "../../src/server/http/request-id";
import { createPrices } from "../../src/server/features/pricing/price";
import { type CallLog, WALLET } from "../../src/server/contracts/ledger";
import type { ConsumeOther } from "../../src/shared/log";
import { UNKNOWN_CLIENT } from "../../src/shared/client-type";
import { chargeOf } from "../../src/shared/charge";
import { priceFacts } from "../../src/shared/price-display";
import { type CompiledPrice } from "../../src/shared/pricing";
import type { Person, SeededChannel } from "./people";

export interface CallsSpec {
  people: readonly Person[];
  channels: readonly SeededChannel[];
  count: number;
  /** How far back they go. */
  seconds: number;
}

/** Calls of the ledger at a time: a group commit on SQLite, parallel connections on Postgres. */
const AT_ONCE = 512;
const FAILED_EVERY = 40;

/** The callers' programs by their User-Agent (shared/client-type.ts). */
const CLIENTS = ["OpenAI/Python", "OpenAI/JS", "CherryStudio", "curl"] as const;

/** mulberry32: small, seeded, the same on every machine. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Makes the calls and folds them into roll-ups. Returns how many there are. */
export async function makeCalls(services: Services, { people, channels, count, seconds }: CallsSpec): Promise<number> {
  const roll = dice(20_261_121);
  const pick = <T>(list: readonly T[]): T => {
    const chosen = list[Math.floor(roll() * list.length)];
    if (chosen === undefined) throw new Error("nothing to pick from");
    return chosen;
  };
  const between = (low: number, high: number) => low + Math.floor(roll() * (high - low));
  const prices = createPrices(services.options);
  const end = Math.floor(services.now() / 1000);
  const run = crypto.randomUUID().slice(0, 8);

  const oneCall = (i: number): Promise<unknown> => {
    const person = pick(people);
    const token = pick(person.tokens);
    const channel = pick(channels);
    const model = pick(channel.models);
    const price = prices.price(model, person.group, person.group);
    if (!price) throw new Error(`${model} has no price`);
    const created_at = end - seconds + Math.floor(((i + roll()) * seconds) / count);
    const isStream = roll() < 0.7;
    const bare: CallLog = {
      request_id: `${requestIdTime(created_at)}${String(i).padStart(9, "0")}${run}`,
      user_id: person.id,
      username: person.username,
      token_id: token.id,
      token_name: token.name,
      created_at,
      group: person.group,
      model_name: model,
      channel: channel.id,
      channel_name: channel.name,
      is_stream: isStream,
      ip: `10.0.${between(0, 4)}.${between(1, 250)}`,
      upstream_request_id: `req_seed${run}${i}`,
    };
    const duration = between(400, 20_000);
    if (i % FAILED_EVERY === FAILED_EVERY - 1) return recordFailure(services, failedRow(bare, price, duration));
    const cached = roll() < 0.3 ? between(200, 3000) : 0;
    const usage = { input: between(20, 4000), cache_read: cached, output: between(10, 1200) };
    const charge = chargeOf(price, usage);
    const log: CallLog = {
      ...bare,
      quota: charge.quota,
      prompt_tokens: usage.input + cached,
      completion_tokens: usage.output,
      use_time: Math.round(duration / 1000),
      end_reason: "complete",
      other: JSON.stringify({
        ...facts(price, bare.group ?? ""),
        cache_tokens: cached,
        client_type: CLIENTS[(person.id + token.id) % CLIENTS.length] ?? UNKNOWN_CLIENT,
        end_reason: "complete",
        bill: [...charge.lines],
        ...(isStream ? { frt: Math.min(duration, between(150, 2500)) } : {}),
        admin_info: { use_channel: [String(channel.id)], attempts: [attempt(bare, 200, "", duration)] },
      } satisfies ConsumeOther),
    };
    const ids = { request_id: bare.request_id, user_id: person.id, token_id: token.id };
    return services.ledger
      .hold({ ...ids, sources: WALLET, amount: charge.quota, draft: JSON.stringify(log) })
      .then<unknown>((held) => (held.ok ? services.ledger.settle({ ...ids, quota: charge.quota, log }) : held));
  };

  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - made) }, (_, i) => oneCall(made + i)));
  }
  await services.ledger.flush();
  while ((await foldBatch(services.db)) > 0);
  return count;
}

const facts = (price: CompiledPrice, group: string) => {
  const { model_ratio, completion_ratio, model_price, group_ratio, user_group_ratio, cache_ratio } = priceFacts(price);
  return {
    model_ratio,
    completion_ratio,
    model_price,
    group_ratio,
    user_group_ratio,
    cache_ratio,
    group,
    request_path: "/v1/chat/completions",
  };
};

const attempt = (row: CallLog, status: number, failure: string, duration_ms: number) => ({
  channel: row.channel ?? 0,
  channel_name: row.channel_name ?? "",
  status,
  failure,
  message: failure ? "The server had an error while processing your request." : "",
  start_ms: 2,
  duration_ms,
  first_content_ms: failure ? -1 : Math.min(duration_ms, 600),
  upstream_request_id: row.upstream_request_id ?? "",
});

function failedRow(bare: CallLog, price: CompiledPrice, duration: number): CallLog {
  return {
    ...bare,
    ...textColumns({
      code: failureCode("server_error"),
      params: { status: 500, detail: "The server had an error while processing your request." },
    }),
    end_reason: "upstream_error",
    use_time: Math.round(duration / 1000),
    other: JSON.stringify({
      ...facts(price, bare.group ?? ""),
      end_reason: "upstream_error",
      bill: [],
      admin_info: { use_channel: [String(bare.channel)], attempts: [attempt(bare, 500, "server_error", duration)] },
    } satisfies ConsumeOther),
  };
}
