/**
 * The file of a price feed: fetched by the policy for typed addresses, its signature checked where the feed has a key.
 * A signed file is a JWS in compact form (RFC 7515, EdDSA of RFC 8037); its payload is {iat, prices} with the prices as
 * GET /api/ratio_config answers them. `weir prices sign` writes one.
 */
import { CompactSign, compactVerify, importJWK, type JWK } from "jose";
import { AppError, fail } from "../../../shared/errors";
import type { PriceFeed } from "../../../shared/price-feeds";
import { type IncomingPrices, readPrices } from "../../../shared/price-import";
import { priceColumns, type RatioTables } from "../../../shared/price-rows";
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { userFetch } from "../option/egress-policy";

/** LiteLLM's catalogue has 1.5 MB, models.dev's 1 MB. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface FeedFile {
  readonly prices: IncomingPrices;
  /** When it was signed, epoch seconds; 0: not signed. */
  readonly signed_at: number;
}

const refused = (detail: string) => new AppError("price_import_failed", { detail });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail("price_import_empty");
  }
}

/** Checks and reads a signed file. Throws price_import_failed for a wrong signature or payload. */
async function opened(text: string, key: string): Promise<{ iat: number; prices: unknown }> {
  const publicKey = await importJWK({ kty: "OKP", crv: "Ed25519", x: key }, "EdDSA");
  const verified = await compactVerify(text.trim(), publicKey, { algorithms: ["EdDSA"] }).catch(() => {
    throw refused("its signature is missing or not of the feed's key");
  });
  const payload = parsed(new TextDecoder().decode(verified.payload));
  const { iat, prices } = (payload ?? {}) as { iat?: unknown; prices?: unknown };
  if (typeof iat !== "number" || !Number.isSafeInteger(iat) || iat <= 0) throw refused("its payload has no iat");
  return { iat, prices };
}

/**
 * The prices of a feed's file. `lastSigned`: an older signed file is refused, so that old prices cannot be replayed.
 * Throws address_forbidden, price_import_failed, price_import_empty.
 */
export async function readFeedFile(
  services: Pick<Services, "options" | "env">,
  feed: Pick<PriceFeed, "url" | "key">,
  lastSigned: number,
): Promise<FeedFile> {
  const answer = await egressFetch(feed.url, { ...userFetch(services), maxBytes: MOST_BYTES }).catch((error) => {
    if (error instanceof AppError) throw error;
    throw refused(error instanceof Error ? error.message : String(error));
  });
  if (answer.status !== 200) throw refused(`HTTP ${answer.status}`);
  if (feed.key === undefined)
    return { prices: readPrices(parsed(answer.text)) ?? fail("price_import_empty"), signed_at: 0 };
  const { iat, prices } = await opened(answer.text, feed.key);
  if (iat < lastSigned) throw refused("it was signed before the last one that was read");
  return { prices: readPrices(prices) ?? fail("price_import_empty"), signed_at: iat };
}

/** A signed file of these prices. `key`: an Ed25519 JWK with its private part. `now`: epoch seconds. */
export async function signPrices(tables: RatioTables, key: JWK, now: number): Promise<string> {
  const prices = Object.fromEntries(priceColumns.map((column) => [column.short, tables[column.key]]));
  const payload = new TextEncoder().encode(JSON.stringify({ iat: now, prices }));
  return new CompactSign(payload).setProtectedHeader({ alg: "EdDSA" }).sign(await importJWK(key, "EdDSA"));
}
