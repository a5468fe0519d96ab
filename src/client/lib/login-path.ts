/** The login page's address that leads back to where the user is; `expired` makes it explain itself. */
export function loginPath(from: { pathname: string; search: string }, { expired = false } = {}): string {
  const asked = from.pathname + from.search;
  const search = new URLSearchParams();
  if (expired) search.set("expired", "true");
  if (from.pathname !== "/" && from.pathname !== "/login") search.set("redirect", asked);
  const text = search.toString();
  return text ? `/login?${text}` : "/login";
}

/**
 * Where to go after a login: the page asked for when it is one of ours, else `/token`. Anything that another site could
 * have put into the link (`//elsewhere`, `https:`) is refused.
 */
export function pathAfterLogin(search: string): string {
  const asked = new URLSearchParams(search).get("redirect") ?? "";
  const ours = /^\/(?![/\\])/.test(asked) && !asked.startsWith("/login");
  return ours ? asked : "/token";
}
