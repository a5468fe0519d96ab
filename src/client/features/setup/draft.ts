import { SETUP_MODES, type SetupMode } from "../../../shared/user";
import { readStoredJson, writeStored } from "../../lib/storage";

/** What the first two steps keep over a reload; passwords and codes are not among it. */
export interface SetupDraft {
  username: string;
  mode: SetupMode;
  server_address: string;
}

const KEY = "draft:setup";

const isDraft = (value: unknown): value is SetupDraft =>
  typeof value === "object" &&
  value !== null &&
  "username" in value &&
  typeof value.username === "string" &&
  "server_address" in value &&
  typeof value.server_address === "string" &&
  "mode" in value &&
  SETUP_MODES.some((mode) => mode === value.mode);

/** What was typed earlier, else an empty start: this page's own address is the best guess for the server's. */
export function startingDraft(): SetupDraft {
  return readStoredJson(KEY, isDraft) ?? { username: "", mode: "self", server_address: location.origin };
}

/** null forgets it. */
export function keepDraft(draft: SetupDraft | null): void {
  writeStored(KEY, draft && JSON.stringify(draft));
}
