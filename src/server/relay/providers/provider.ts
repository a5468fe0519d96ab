/**
 * A provider is an address: where a call goes and how it proves itself. The ordinary OpenAI-compatible vendor is data
 * (shared/channel-types.ts) and needs no file; an odd one (`custom: true`) has one file here, registered in registry.ts.
 */
import type { Operation } from "../../../shared/channel-types";
import type { PoolChannel } from "../seams";

export interface Provider {
  /** The URL of a call; undefined when this vendor does not serve the operation. `stream`: the answer is to be streamed. */
  url(channel: PoolChannel, operation: Operation, model: string, stream?: boolean): string | undefined;
  /** Headers of a call besides content-type and accept. */
  headers(channel: PoolChannel): Record<string, string>;
}
