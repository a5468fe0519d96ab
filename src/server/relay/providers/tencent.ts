/**
 * Tencent Hunyuan: one address for all actions, named by a header and signed with it (api/1729/101842, November 2026).
 */
import { keyParts } from "./parts";
import type { Provider } from "./provider";
import { tc3Authorization } from "./tc3";

const ACTION = "ChatCompletions";

export const tencent: Provider = {
  url: ({ base_url }, operation) => (operation === "chat" ? `${base_url}/` : undefined),
  headers: () => ({ "x-tc-action": ACTION, "x-tc-version": "2023-09-01" }),
  prepare(outgoing, { now }) {
    const { secret_id = "", secret_key = "" } = keyParts(outgoing.channel);
    const timestamp = Math.floor(now() / 1000);
    const content_type = outgoing.headers["content-type"] ?? "application/json";
    const { host } = new URL(outgoing.url);
    const { body } = outgoing;
    const authorization = tc3Authorization({
      secret_id,
      secret_key,
      service: "hunyuan",
      host,
      action: ACTION,
      content_type,
      body,
      timestamp,
    });
    const headers = {
      ...outgoing.headers,
      "content-type": content_type,
      "x-tc-timestamp": String(timestamp),
      authorization,
    };
    return { ...outgoing, headers };
  },
};
