/**
 * Objects that callers have stored, as the relay sees them: responses and files. An entry belongs to its owner; every
 * look-up names both, so another user's id finds nothing.
 */

export type StoredKind = "response" | "file";

export interface Stored {
  kind: StoredKind;
  /** The id as its owner sees it. */
  object_id: string;
  user_id: number;
  token_id: number;
  /** The channel that stores it; 0 = this server. */
  channel_id: number;
  /** The channel key whose account stores it, where the channel has several; 0 = it had one. */
  channel_key_id: number;
  model: string;
  /** The response it continues, the file a batch reads. */
  parent_id: string;
  status: string;
  /** Of a file: its size. */
  bytes: number;
  /** Epoch seconds. */
  created_at: number;
  /** Epoch seconds, 0 = never. */
  expires_at: number;
  /** JSON; undefined where only the upstream has it. */
  value: unknown;
}

export interface StoredPage {
  /** The id after which the page begins. */
  after?: string;
  order: "asc" | "desc";
  limit: number;
}

export interface StoredObjectStore {
  /** Seconds that a response is stored; 0 = none is. */
  readonly lifetime: number;
  /** The most bytes that one user's files may have together. */
  readonly fileLimit: number;
  /** undefined when there is none, when it belongs to another user, and when it has expired. */
  find(kind: StoredKind, object_id: string, user_id: number): Promise<Stored | undefined>;
  /** Adds an entry, or replaces one of the same owner; an id that another user has is not changed. */
  put(entry: Omit<Stored, "created_at" | "bytes"> & { created_at?: number; bytes?: number }): Promise<void>;
  /** Extends the entries of a chain to the expiry of the newest. */
  prolong(kind: StoredKind, object_ids: readonly string[], user_id: number, expires_at: number): Promise<void>;
  remove(kind: StoredKind, object_id: string, user_id: number): Promise<void>;
  /** In the order of creation. */
  list(kind: StoredKind, user_id: number, page: StoredPage): Promise<Stored[]>;
  /** Bytes of a user's entries together. */
  size(kind: StoredKind, user_id: number): Promise<number>;
}
