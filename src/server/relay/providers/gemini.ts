/** Google Gemini: the address names the model and whether the answer is streamed (ai.google.dev/api/generate-content). */
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

export const gemini: Provider = {
  url({ base_url }, operation, model, stream) {
    if (operation !== "chat") return undefined;
    const call = stream === true ? "streamGenerateContent?alt=sse" : "generateContent";
    return `${base_url}/v1beta/models/${encodeURIComponent(model)}:${call}`;
  },
  headers: (channel) => ordinary.headers(channel),
};
