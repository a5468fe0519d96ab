/** The prices of another gateway: fetched by the policy for typed addresses (lib/egress). */
import { AppError, fail } from "../../../shared/errors";
import { type IncomingPrices, readPrices } from "../../../shared/price-import";
import type { PriceNumbers } from "../../../shared/price-rows";
import type { Ctx } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { userFetch } from "../option/egress-policy";

/** Where a gateway publishes its prices: all factors, or the list that every gateway of this kind has. */
const PATHS = ["/api/ratio_config", "/api/pricing"];

export interface RemotePrices {
  /** The address that answered. */
  readonly url: string;
  readonly prices: Record<string, PriceNumbers>;
}

/** An address without a path means the gateway itself. */
function addressesOf(typed: string): string[] {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`) ?? fail("address_forbidden");
  return url.pathname === "/" ? PATHS.map((path) => new URL(path, url).href) : [url.href];
}

/** Throws address_forbidden, price_import_failed (no usable answer), price_import_empty (an answer without prices). */
export async function fetchPrices(ctx: Pick<Ctx, "options" | "env">, typed: string): Promise<RemotePrices> {
  let problem: AppError | undefined;
  for (const url of addressesOf(typed)) {
    try {
      const prices = await pricesAt(ctx, url);
      return { url, prices: Object.fromEntries(prices) };
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "address_forbidden") throw error;
      problem = error;
    }
  }
  throw problem ?? new AppError("price_import_empty");
}

async function pricesAt(ctx: Pick<Ctx, "options" | "env">, url: string): Promise<IncomingPrices> {
  let answer: { status: number; text: string };
  try {
    answer = await egressFetch(url, userFetch(ctx));
  } catch (error) {
    if (error instanceof AppError) throw error;
    return fail("price_import_failed", { detail: error instanceof Error ? error.message : String(error) }, error);
  }
  if (answer.status !== 200) fail("price_import_failed", { detail: `HTTP ${answer.status}` });
  let json: unknown;
  try {
    json = JSON.parse(answer.text);
  } catch {
    fail("price_import_empty");
  }
  return readPrices(json) ?? fail("price_import_empty");
}
