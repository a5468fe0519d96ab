/**
 * Coze: which bot is called, and its events (docs.coze.cn/developer_guides/chat_v3, read November 2026). Calls are
 * always streamed: a whole answer would have to be polled every second, and stays stored at the vendor.
 */
import { COMPLETED, MESSAGE } from "../../protocol/dialects/coze/answer";
import type { WireObject } from "../../protocol/chat-events";
import { tryParse } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { eventsOf, framesOf, isEvents } from "./framing";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";
import { send } from "./provider-context";

/** The vendor's events with their names in the data. */
async function* named(response: Response): AsyncGenerator<{ event: string; data: unknown }> {
  for await (const { event, data } of framesOf(response.body)) {
    if (data !== undefined) yield { event, data: tryParse(Buffer.from(data)) ?? data };
  }
}

async function* written(response: Response): AsyncGenerator<string> {
  for await (const event of named(response)) yield JSON.stringify(event);
}

/** The event that a whole answer is read from. */
const counts = new Set([MESSAGE, COMPLETED, "conversation.chat.failed", "conversation.chat.requires_action", "error"]);

async function gathered(response: Response): Promise<Response> {
  const events: WireObject[] = [];
  for await (const event of named(response)) if (counts.has(event.event)) events.push(event);
  return Response.json({ events });
}

export const coze: Provider = {
  ...ordinary,
  /** The channel's bot; when the channel names none, its models are bot ids. */
  prepare: (outgoing) => withBody(outgoing, { ...bodyOf(outgoing), bot_id: outgoing.channel.other || outgoing.model }),
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    if (!isEvents(response)) return response;
    return outgoing.stream ? eventsOf(written(response), response.headers) : gathered(response);
  },
};
