/**
 * Google PaLM: the address names the model; a response arrives whole, so a stream is one event (ai.google.dev/api/palm,
 * November 2026).
 */
import { eventsOf } from "./framing";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";
import { send } from "./provider-context";

/** The vendor's id of a model. */
const names: Readonly<Record<string, string>> = { "PaLM-2": "chat-bison-001" };

async function* whole(response: Response): AsyncGenerator<string> {
  yield (await response.text()).replaceAll(/[\r\n]+/g, " ");
}

export const palm: Provider = {
  ...ordinary,
  url: ({ base_url }, operation, model) =>
    operation === "chat"
      ? `${base_url}/v1beta2/models/${encodeURIComponent(names[model] ?? model)}:generateMessage`
      : undefined,
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    return response.ok && outgoing.stream ? eventsOf(whole(response), response.headers) : response;
  },
};
