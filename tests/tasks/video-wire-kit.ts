/** A channel of a vendor and the neutral request, for tests of the vendors' formats. */
import { channelType } from "../../src/shared/channel-types";
import { RequestFault } from "../../src/server/protocol/dialects/shared/fault";
import type { ProviderContext } from "../../src/server/relay/providers/provider";
import { readVideoRequest } from "../../src/server/relay/tasks/video/ask";
import type { Place, VendorJob, VideoVendor } from "../../src/server/relay/tasks/video/vendor";

export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const NOW = Date.parse("2026-11-22T02:00:00Z");

/** A channel of a type at the vendor's own address, and the vendor's name of a model. */
export function at(type: number, model: string, key = "key"): Place {
  const found = channelType(type);
  if (!found) throw new Error(`no type ${type}`);
  return {
    model,
    channel: {
      id: 1,
      name: "c",
      type: found,
      key,
      base_url: found.base_url,
      other: type === 41 ? "us-central1" : "",
      organization: "",
      models: new Set(),
      groups: new Set(),
      priority: 0,
      weight: 0,
      auto_ban: true,
      model_mapping: new Map(),
      status_mapping: new Map(),
      setting: {},
      test_model: "",
    },
  };
}

export const submit = (
  vendor: VideoVendor,
  place: Place,
  body: Record<string, unknown>,
): ReturnType<VideoVendor["submit"]> => vendor.submit(readVideoRequest(place.model, body), place);

export const job = (upstream_id: string, kind = ""): VendorJob => ({ upstream_id, kind });

/** The member for which a request is refused; undefined: it is accepted. */
export function fault(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof RequestFault ? error.param : String(error);
  }
}

export const tools = { now: () => NOW } as unknown as ProviderContext;
