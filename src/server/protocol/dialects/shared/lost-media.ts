/**
 * What a user shows, plays or attaches may not get lost: the model would answer without it. In earlier answers and in
 * results of tools it may: the log names it.
 */
import type { Block, ChatPrompt, Warning } from "../../chat-events";
import { RequestFault } from "./fault";
import { blockName } from "./unsupported";

const isMedia = (block: Block): boolean =>
  block.type === "image" ||
  block.type === "audio" ||
  block.type === "file" ||
  (block.type === "opaque" && block.value.type === "video_url");

/** Throws RequestFault where the warnings of a translation say that media of the user's were dropped. */
export function refuseLostMedia({ messages }: ChatPrompt, warnings: readonly Warning[]): void {
  const dropped = new Set(warnings.flatMap(({ code, detail }) => (code === "dropped_block" ? [detail] : [])));
  if (dropped.size === 0) return;
  for (const [position, { role, content }] of messages.entries()) {
    const lost = role === "user" ? content.find((block) => isMedia(block) && dropped.has(blockName(block))) : undefined;
    if (lost) throw new LostMedia(`messages[${position}].content`, blockName(lost));
  }
}

/** No fault of the request's form: another channel may take it. */
export class LostMedia extends RequestFault {
  constructor(param: string, kind: string) {
    super(param, `the model takes no ${kind} here`);
  }
}
