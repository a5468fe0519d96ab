/** Conversations for vendors that take one question: an application keeps its own history, or gets it in words. */
import type { Block, Message, Warn } from "../../chat-events";
import { textOfBlocks } from "./unsupported";

const speakers: Readonly<Record<Message["role"], string>> = {
  system: "System",
  developer: "System",
  user: "User",
  assistant: "Assistant",
};

const isMedia = ({ type }: Block): boolean => type === "image" || type === "audio" || type === "file";

/** What the user said last, without pictures and files: those travel beside it. */
export function questionOf(messages: readonly Message[], warn: Warn): string {
  const last = messages.findLast(({ role }) => role === "user");
  return textOfBlocks(last?.content.filter((block) => !isMedia(block)) ?? [], warn);
}

/** The whole conversation as one text; a single message as it stands. */
export function transcriptOf(messages: readonly Message[], warn: Warn): string {
  const spoken = messages.map(({ role, content }) => ({
    role,
    text: textOfBlocks(
      content.filter((block) => !isMedia(block)),
      warn,
    ),
  }));
  const only = spoken.length === 1 ? spoken[0] : undefined;
  if (only) return only.text;
  return spoken
    .filter(({ text }) => text !== "")
    .map(({ role, text }) => `${speakers[role]}: ${text}`)
    .join("\n\n");
}
