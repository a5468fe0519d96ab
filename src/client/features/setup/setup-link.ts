/**
 * The code in the link that the server prints when it starts: `/setup#code=…`. The fragment is not sent to any
 * server; it is taken out of the address at once, so that it is in no history and in no picture of the screen either.
 */
const codeIn = (hash: string): string => new URLSearchParams(hash).get("code") ?? "";

/** "" when the page was not opened by the link. */
export const codeOfLink = (): string => codeIn(location.hash.slice(1));

/** Takes the code out of the page's address. */
export function forgetLink(): void {
  if (codeOfLink() !== "") history.replaceState(history.state, "", location.pathname + location.search);
}

/** The code alone, also where the whole link was pasted. */
export const codeTyped = (text: string): string =>
  (text.includes("#") ? codeIn(text.slice(text.indexOf("#") + 1)) : text).trim();
