/** Authentication of API keys from memory. */
import type { Lang } from "../../shared/text";
import type { Caller } from "./caller";

export interface TokenCache {
  /** See `ControlPlane.authenticate` (contracts/control-plane.ts). */
  authenticate(key: string | undefined, ip: string, lang: Lang): Promise<Caller>;
  close(): void;
}
