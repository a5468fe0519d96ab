/**
 * Coze: whose bot is asked, and its events (docs.coze.cn/developer_guides/chat_v3, read November 2026). An answer is
 * always streamed: the vendor's whole answers must be asked for every second until they are there, and are kept by it.
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

/** What a whole answer is read from. */
const counts = new Set([MESSAGE, COMPLETED, "conversation.chat.failed", "conversation.chat.requires_action", "error"]);

async function gathered(response: Response): Promise<Response> {
  const events: WireObject[] = [];
  for await (const event of named(response)) if (counts.has(event.event)) events.push(event);
  return Response.json({ events });
}

export const coze: Provider = {
  ...ordinary,
  /** The channel's bot; a channel that names none has bots for models. */
  prepare: (outgoing) => withBody(outgoing, { ...bodyOf(outgoing), bot_id: outgoing.channel.other || outgoing.model }),
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    if (!isEvents(response)) return response;
    return outgoing.stream ? eventsOf(written(response), response.headers) : gathered(response);
  },
};
