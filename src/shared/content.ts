/** The operator's texts (home page, about, notice, footer): how the console reads them. */

/**
 * The address in a text that is an https:// address and nothing else: such a page is framed. undefined for every other
 * text, which is Markdown or HTML.
 */
export function framedAddress(text: string): URL | undefined {
  const address = text.trim();
  if (!/^https:\/\/\S+$/i.test(address) || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // URLs allow ";", "'" and "*" in a host; in a content security policy they are syntax.
  if (!/^[a-z0-9._-]+$/.test(url.hostname)) return undefined;
  // A name and password in an address would be shown to every visitor.
  return url.username || url.password ? undefined : url;
}

/**
 * The origin of an http(s) address for a content security policy; undefined for anything else: a URL's host may contain
 * ";", "'" and "*", which are syntax in the policy, and a placeholder in the host is no origin.
 */
export function policyOrigin(address: string): string | undefined {
  const text = address.trim();
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return undefined;
  const { hostname, origin } = new URL(text);
  return /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/.test(hostname) ? origin : undefined;
}
