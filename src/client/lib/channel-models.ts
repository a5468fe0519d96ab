import { callApi } from "./http";
import { writeStored } from "./storage";

/**
 * Keeps the default models of each channel type in local storage as `channel_models`, where older
 * pages read them; our own forms know them from the registry. Without an answer what was stored before stays.
 */
export async function cacheChannelModels(): Promise<void> {
  const models = await callApi<Record<string, string[]>>("/api/models").catch(() => null);
  if (models) writeStored("channel_models", JSON.stringify(models));
}
