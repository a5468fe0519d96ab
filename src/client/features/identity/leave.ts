import type { RedirectProvider } from "../../../shared/identity";
import { callEnvelope } from "../../lib/http";
import { readStored } from "../../lib/storage";

/**
 * Opens a provider's page in a new window. The window is opened before the call: after it browsers
 * block it as an unrequested pop-up. Where it is blocked all the same, the provider's page opens in this window.
 *
 * @throws CallError when the server has no address to go to.
 */
export async function openProvider(provider: RedirectProvider): Promise<void> {
  const opened = window.open("", "_blank");
  try {
    const search = new URLSearchParams({ provider });
    const aff = readStored("aff");
    if (aff) search.set("aff", aff);
    const { url } = await callEnvelope<{ data: string; url: string }>(`/api/oauth/state?${search}`);
    if (!opened) location.assign(url);
    else {
      // The provider's page must not reach this one (window.opener).
      opened.opener = null;
      opened.location.replace(url);
    }
  } catch (error) {
    opened?.close();
    throw error;
  }
}
