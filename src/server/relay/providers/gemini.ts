/** Google Gemini: the address names the model and the method (ai.google.dev/api, November 2026). */
import { geminiEmbeddings, googleImages, isImagen } from "./google-codecs";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

export const gemini: Provider = {
  url({ base_url }, operation, model, stream) {
    const at = (call: string): string => `${base_url}/v1beta/models/${encodeURIComponent(model)}:${call}`;
    switch (operation) {
      case "chat":
        return at(stream === true ? "streamGenerateContent?alt=sse" : "generateContent");
      case "embeddings":
        return at("batchEmbedContents");
      case "images":
        return at(isImagen(model) ? "predict" : "generateContent");
      default:
        return undefined;
    }
  },
  headers: (channel) => ordinary.headers(channel),
  direct: { embeddings: geminiEmbeddings, images: googleImages },
};
