/** The address of the console: the one that the operator set, else the one that the browser called. */
import type { Ctx } from "../contracts/context";

/**
 * `https://weir.example` and its host name. Without a set address the Host header decides, which only the caller
 * himself is misled by.
 */
export function siteOf(ctx: Pick<Ctx, "options" | "request" | "secure">): URL {
  const set = ctx.options.get("ServerAddress");
  if (set !== "" && URL.canParse(set)) return new URL(set);
  const called = `${ctx.secure ? "https" : "http"}://${ctx.request.host}`;
  return new URL(URL.canParse(called) ? called : "http://localhost");
}
