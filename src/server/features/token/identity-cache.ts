/**
 * Tokens with their owners, by the keyed hash of the key. Rows are cached for a minute and dropped by messages of the
 * bus; while the bus cannot be heard, nothing cached is trusted.
 */
import { and, eq, isNull } from "drizzle-orm";
import { canonicalModel } from "../../../shared/channel-types";
import { type LimitField, type LimitSet, readLimits } from "../../../shared/limits";
import { isExhausted } from "../../../shared/token";
import type { Services } from "../../contracts/context";
import type { TokenRow, UserRow } from "../../db/schema";
import type { Db } from "../../db/types";
import { compileNetworks, type Network } from "../../lib/addresses";
import { steadyOf } from "../../lib/timers";
import { adoptKey, hasImportedKeys } from "./imported-key";

/** A token with its owner, prepared for many calls. */
export interface Identity {
  token: TokenRow;
  user: Pick<UserRow, "id" | "username" | "role" | "status" | "group" | "deleted_at" | LimitField>;
  allow: readonly Network[] | undefined;
  deny: readonly Network[];
  models: ReadonlySet<string> | undefined;
  user_limits: LimitSet | undefined;
  loaded_at: number;
}

const TTL_MS = 60_000;
const MAX_ENTRIES = 20_000;

export class IdentityCache {
  readonly #services: Pick<Services, "db" | "secrets" | "cluster" | "now">;
  readonly #steady: () => number;
  readonly #entries = new Map<string, Identity>();
  /** Readings under way, with the epoch in which they began. */
  readonly #loading = new Map<string, { epoch: number; found: Promise<Identity | undefined> }>();
  readonly #unsubscribe: readonly (() => void)[];
  /** Changes when anything is dropped: what was read before that is not kept. */
  #epoch = 0;
  #imported: { at: number; any: boolean } | undefined;

  constructor(services: Pick<Services, "db" | "secrets" | "cluster" | "now">) {
    this.#services = services;
    this.#steady = steadyOf(services.now);
    const { bus } = services.cluster;
    this.#unsubscribe = [
      bus.subscribe("tokens", (id) => this.#drop(({ token }) => id === "*" || String(token.id) === id)),
      bus.subscribe("users", (id) => this.#drop(({ user }) => id === "*" || String(user.id) === id)),
    ];
  }

  /** The identity itself when it is cached, as it is for nearly every call. */
  find(key: string): Identity | Promise<Identity | undefined> {
    const { secrets, cluster } = this.#services;
    const hash = secrets.hash("relay-key", key);
    const cached = this.#entries.get(hash);
    if (cached && this.#steady() - cached.loaded_at < TTL_MS && cluster.bus.fresh()) return cached;
    if (cached) this.#entries.delete(hash);
    // Calls of one key that come together read it once, also after a message that dropped all.
    const known = this.#loading.get(hash);
    if (known?.epoch === this.#epoch && cluster.bus.fresh()) return known.found;
    const loading = { epoch: this.#epoch, found: this.#load(hash, key) };
    this.#loading.set(hash, loading);
    const over = (): void => {
      if (this.#loading.get(hash) === loading) this.#loading.delete(hash);
    };
    loading.found.then(over, over);
    return loading.found;
  }

  close(): void {
    for (const stop of this.#unsubscribe) stop();
    this.#entries.clear();
  }

  async #load(hash: string, key: string): Promise<Identity | undefined> {
    const { db } = this.#services;
    const before = this.#epoch;
    let row = await readRow(db, hash);
    if (!row && (await this.#mayBeImported()) && (await adoptKey(this.#services, key))) row = await readRow(db, hash);
    if (!row) return undefined;
    const identity = prepare(row, this.#steady());
    // A token at zero may be refilled by a refund, which no message announces.
    if (this.#epoch === before && !isExhausted(row.token)) this.#keep(hash, identity);
    return identity;
  }

  /** Asked at most once in TTL_MS: unknown keys must not cost two reads each. */
  async #mayBeImported(): Promise<boolean> {
    const now = this.#steady();
    if (!this.#imported || now - this.#imported.at >= TTL_MS)
      this.#imported = { at: now, any: await hasImportedKeys(this.#services) };
    return this.#imported.any;
  }

  #keep(hash: string, identity: Identity): void {
    if (this.#entries.size >= MAX_ENTRIES) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
    this.#entries.set(hash, identity);
  }

  #drop(matches: (identity: Identity) => boolean): void {
    this.#epoch++;
    for (const [hash, identity] of this.#entries) if (matches(identity)) this.#entries.delete(hash);
  }
}

async function readRow(db: Db, hash: string): Promise<Pick<Identity, "token" | "user"> | undefined> {
  const { tokens, users } = db.t;
  const [row] = await db.q
    .select({
      token: tokens,
      user: {
        id: users.id,
        username: users.username,
        role: users.role,
        status: users.status,
        group: users.group,
        deleted_at: users.deleted_at,
        rpm: users.rpm,
        tpm: users.tpm,
        concurrency: users.concurrency,
        budget_day: users.budget_day,
        budget_month: users.budget_month,
      },
    })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.user_id))
    .where(and(eq(tokens.key_hash, hash), isNull(tokens.deleted_at)));
  return row;
}

const prepare = ({ token, user }: Pick<Identity, "token" | "user">, loaded_at: number): Identity => ({
  token,
  user,
  allow: token.allow_ips.trim() ? compileNetworks(token.allow_ips) : undefined,
  deny: compileNetworks(token.deny_ips),
  models: token.model_limits_enabled
    ? new Set(token.model_limits.split(",").filter(Boolean).map(canonicalModel))
    : undefined,
  user_limits: readLimits(user).limits,
  loaded_at,
});
