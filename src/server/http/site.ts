/** The console's address: the operator's setting, else the address of the request. */
import type { Ctx } from "../contracts/context";

/**
 * `https://weir.example` and its host name. Without a setting the Host header decides, and a false one misleads only
 * its own sender.
 */
export function siteOf(ctx: Pick<Ctx, "options" | "request" | "secure">): URL {
  const set = ctx.options.get("ServerAddress");
  if (set !== "" && URL.canParse(set)) return new URL(set);
  const called = `${ctx.secure ? "https" : "http"}://${ctx.request.host}`;
  return new URL(URL.canParse(called) ? called : "http://localhost");
}
