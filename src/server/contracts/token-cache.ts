/** Authentication of API keys from memory. */
import type { AppError } from "../../shared/errors";
import type { Lang } from "../../shared/text";
import type { Caller } from "./caller";

export interface TokenCache {
  /** See `ControlPlane.authenticate` (contracts/control-plane.ts). */
  authenticate(key: string | undefined, ip: string, lang: Lang): Promise<Caller>;
  /** See `ControlPlane.watchKey`. */
  watch(key: string | undefined, ip: string, ended: (reason: AppError) => void): () => void;
  close(): void;
}
