/**
 * Chat links (option Chats: one `{ name: address }` each): third-party chat pages and programs that get a key and an
 * address from their link (C-037 to C-050). The console opens them, the server allows their frames.
 */
import { policyOrigin } from "./content";

/**
 * The placeholders filled in: the key with `sk-`, the gateway's address URI-encoded; nothing else is substituted
 * (C-049).
 */
export function fillChatLink(template: string, { key, address }: { key: string; address: string }): string {
  return template
    .replaceAll("{key}", () => `sk-${key.replace(/^sk-/, "")}`)
    .replaceAll("{address}", () => encodeURIComponent(address));
}

/** How a link is opened: http(s) in a frame, a program's own scheme directly; undefined for what is refused. */
export function chatLinkKind(link: string): "page" | "program" | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(link.trim())?.[1]?.toLowerCase();
  if (scheme === undefined || ["javascript", "data", "vbscript", "blob", "file", "about"].includes(scheme))
    return undefined;
  return scheme === "http" || scheme === "https" ? "page" : "program";
}

/** The origin that a link's frame needs in the content security policy; undefined for what is not framed. */
export function chatFrameOrigin(template: string): string | undefined {
  return chatLinkKind(template) === "page" ? policyOrigin(template) : undefined;
}
