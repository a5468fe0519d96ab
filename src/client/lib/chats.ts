import { chatLinkKind, fillChatLink } from "../../shared/chat-links";
import { currentStatus } from "./status";
import { readStored } from "./storage";

/** A configured chat link; `template` null when what is stored is no link that may be followed. */
export interface Chat {
  name: string;
  template: string | null;
}

function chatOf(entry: unknown): Chat {
  const [pair] = typeof entry === "object" && entry !== null ? Object.entries(entry) : [];
  const [name = "", template] = pair ?? [];
  return { name, template: typeof template === "string" && chatLinkKind(template) !== undefined ? template : null };
}

/** The chat links as the status left them in local storage, in the operator's order; null when that cannot be read. */
export function storedChats(): Chat[] | null {
  const text = readStored("chats");
  if (text === null || text === "") return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(chatOf) : null;
  } catch {
    return null;
  }
}

/** A template with a key and this gateway's address filled in. */
export const chatLinkFor = (template: string, key: string): string =>
  fillChatLink(template, { key, address: currentStatus().server_address || location.origin });

/** The entries of the side menu below 聊天. */
export const chatMenuItems = () =>
  (storedChats() ?? []).flatMap(({ name, template }, index) =>
    template === null ? [] : [{ title: name, to: `/chat/${index}` }],
  );
