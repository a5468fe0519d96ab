/**
 * Access tokens of Codex channels, renewed by their own account's refresh token before they end. Refresh tokens are
 * used once, so a renewal runs under a lease, on one instance, and the new pair is stored before anything else is done.
 *
 * Source: github.com/openai/codex, codex-rs/login/src/auth/manager.rs and storage.rs (read November 2026).
 */
import { and, eq } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { channelTypes } from "../../../shared/channel-types";
import { type Held, NEVER_LOST } from "../../cluster/types";
import type { Services } from "../../contracts/context";
import type { PoolChannel } from "../../contracts/channel";
import { run } from "../../db/transaction";
import { readLimited } from "../../lib/egress";
import { isObject, tryParse } from "../../lib/json-bytes";
import { fetchThrough } from "../../lib/proxy";
import { announceChange } from "./announce";
import { disableChannel } from "./auto-disable";
import { loadKeys } from "./keys";
import { upstreamInit } from "./upstream";

const CODEX_TOKEN_URL = "https://auth.openai.com/oauth/token";
/** The public client of Codex CLI, whose refresh tokens these are. */
const CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann";
/**
 * A token is renewed when it has less than this left, and as much more of the second as its refresh token says: so that
 * channels that were added together do not all ask in one round.
 */
const RENEW_BEFORE_S = 15 * 60;
const SPREAD_S = 10 * 60;
const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64 * 1024;
/** Codes by which the service says that a refresh token is over for good; so does the status 401. */
const OVER = /refresh_token_(expired|reused|invalidated)|invalid_grant/;

const TYPE = channelTypes.find(({ key }) => key === "codex")?.id ?? 0;

/** A credential as it was pasted: Codex CLI's auth.json, or its tokens alone. */
interface Credential {
  /** The object that holds the tokens. */
  tokens: Record<string, unknown>;
  /** The same file with other tokens. */
  withTokens(tokens: Record<string, unknown>): string;
}

function credentialIn(key: string): Credential | undefined {
  const file = tryParse(Buffer.from(key));
  if (!isObject(file)) return undefined;
  const { tokens } = file;
  return isObject(tokens)
    ? { tokens, withTokens: (next) => JSON.stringify({ ...file, tokens: next }) }
    : { tokens: file, withTokens: (next) => JSON.stringify(next) };
}

/** The claims of a JSON Web Token (RFC 7519, 4.1), which is not verified: undefined where there are none. */
function claimsOf(token: unknown): Record<string, unknown> | undefined {
  const payload = typeof token === "string" ? token.split(".")[1] : undefined;
  const claims = payload === undefined ? undefined : tryParse(Buffer.from(payload, "base64url"));
  return isObject(claims) ? claims : undefined;
}

/** When a JSON Web Token ends, epoch seconds; undefined where it does not say so. */
export function endOf(token: unknown): number | undefined {
  const end = claimsOf(token)?.exp;
  return typeof end === "number" ? end : undefined;
}

/**
 * From when on a token is renewed, epoch seconds; undefined where it does not say when it ends. Never before half of
 * its life: one that lives for minutes is not renewed in every round. `hash`: hexadecimal, of its refresh token.
 */
export function renewalAt(token: unknown, hash: string): number | undefined {
  const end = endOf(token);
  if (end === undefined) return undefined;
  const begun = claimsOf(token)?.iat;
  const before = RENEW_BEFORE_S + (Number.parseInt(hash.slice(0, 8), 16) % SPREAD_S);
  return end - (typeof begun === "number" && begun < end ? Math.min(before, (end - begun) / 2) : before);
}

/** Refresh tokens that were refused, by their hash, so that they are not sent again by this process. */
const refused = new Set<string>();
/** Refresh tokens that are being sent by this process: one is sent once. */
const asking = new Set<string>();

/** Renews what ends soon; returns how many were. Never throws for a vendor's error: the next round tries again. */
export async function renewCodexTokens(
  services: Services,
  held: Held = NEVER_LOST,
  url = CODEX_TOKEN_URL,
): Promise<number> {
  const { channels } = services.db.t;
  const rows = await services.db.q
    .select()
    .from(channels)
    .where(and(eq(channels.type, TYPE), eq(channels.status, CHANNEL_STATUS.enabled)));
  let renewed = 0;
  for (const row of rows)
    for (const channel of await loadKeys(services, row))
      if (!held.lost && !channel.autoDisabled && (await renew(services, channel, url))) renewed++;
  return renewed;
}

async function renew(services: Services, channel: PoolChannel, url: string): Promise<boolean> {
  const credential = credentialIn(channel.key);
  const { refresh_token, access_token } = credential?.tokens ?? {};
  if (!credential || typeof refresh_token !== "string" || refresh_token === "") return false;
  const hash = services.secrets.hash("channel-key", refresh_token);
  const from = renewalAt(access_token, hash);
  if (from === undefined || services.now() / 1000 < from || refused.has(hash) || asking.has(hash)) return false;
  asking.add(hash);
  try {
    return await exchange(services, channel, url, credential, refresh_token);
  } finally {
    asking.delete(hash);
  }
}

/** Sends the refresh token, which is then used up, and stores what came for it. */
async function exchange(
  services: Services,
  channel: PoolChannel,
  url: string,
  credential: Credential,
  refresh_token: string,
): Promise<boolean> {
  const answer = await ask(channel, url, refresh_token);
  if (answer.kind === "refused") {
    // Another process, or an operator, may have stored the next one meanwhile: that one is not over.
    if (await isReplaced(services, channel)) return false;
    refused.add(services.secrets.hash("channel-key", refresh_token));
    await disableChannel(services, channel, { code: "codex_refresh_refused", values: { detail: answer.code } });
    return false;
  }
  if (answer.kind === "failed") {
    services.log.warn({ channel: channel.id, status: answer.status }, "a Codex token could not be renewed");
    return false;
  }
  return store(services, channel, credential.withTokens({ ...credential.tokens, ...answer.tokens }));
}

type Answer =
  | { kind: "tokens"; tokens: Record<string, string> }
  | { kind: "refused"; code: string }
  /** It may pass. */
  | { kind: "failed"; status: number };

async function ask(channel: PoolChannel, url: string, refresh_token: string): Promise<Answer> {
  let status = 0;
  try {
    const response = await fetchThrough(url, {
      ...upstreamInit(channel, TIMEOUT_MS),
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ client_id: CLIENT_ID, grant_type: "refresh_token", refresh_token }),
    });
    ({ status } = response);
    const body = tryParse(Buffer.from(await readLimited(response, MAX_BYTES)));
    const { access_token, refresh_token: next, id_token, error } = isObject(body) ? body : {};
    if (response.ok && typeof access_token === "string" && access_token !== "") {
      const given = { access_token, refresh_token: next, id_token };
      const tokens = Object.entries(given).filter((one): one is [string, string] => typeof one[1] === "string");
      return { kind: "tokens", tokens: Object.fromEntries(tokens) };
    }
    const code = String((isObject(error) ? error.code : error) ?? "");
    if (status === 401 || OVER.test(code)) return { kind: "refused", code: OVER.exec(code)?.[0] ?? `HTTP ${status}` };
  } catch {
    // No answer, or one that is no JSON: the token may still be good.
  }
  return { kind: "failed", status };
}

/** Whether another key is stored than the one that was read. */
async function isReplaced({ db, secrets }: Services, { id, key, key_row }: PoolChannel): Promise<boolean> {
  const { channels, channel_keys } = db.t;
  const [row] = key_row
    ? await db.q.select({ hash: channel_keys.key_hash }).from(channel_keys).where(eq(channel_keys.id, key_row.id))
    : await db.q.select({ hash: channels.key_hash }).from(channels).where(eq(channels.id, id));
  return row?.hash !== secrets.hash("channel-key", key);
}

/** Replaces the key that was renewed, unless it was changed meanwhile; every instance then reads the new one. */
async function store(services: Services, { id, key, key_row }: PoolChannel, next: string): Promise<boolean> {
  const { db, secrets } = services;
  const { channels, channel_keys } = db.t;
  const before = secrets.hash("channel-key", key);
  const set = { key_cipher: secrets.encrypt("channel-key", next), key_hash: secrets.hash("channel-key", next) };
  return db.tx(function* (q) {
    const hit = key_row
      ? yield* run(
          q
            .update(channel_keys)
            .set(set)
            .where(and(eq(channel_keys.id, key_row.id), eq(channel_keys.key_hash, before)))
            .returning({ id: channel_keys.id }),
        )
      : yield* run(
          q
            .update(channels)
            .set(set)
            .where(and(eq(channels.id, id), eq(channels.key_hash, before)))
            .returning({ id: channels.id }),
        );
    yield* announceChange(services, q, id);
    return hit.length > 0;
  });
}
