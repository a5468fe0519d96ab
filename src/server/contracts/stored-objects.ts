/**
 * What callers have stored, as the relay sees it: responses and files. An entry belongs to its owner; every look-up
 * names both, so an id of another user's entry finds nothing.
 */

export type StoredKind = "response" | "file";

export interface Stored {
  kind: StoredKind;
  /** The id as its owner knows it. */
  object_id: string;
  user_id: number;
  token_id: number;
  /** The channel that holds it; 0 = this server. */
  channel_id: number;
  /** The channel key whose account holds it, where the channel has several; 0 = it had one. */
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
  /** JSON; undefined where the upstream alone keeps it. */
  value: unknown;
}

export interface StoredPage {
  /** The id after which the page begins. */
  after?: string;
  order: "asc" | "desc";
  limit: number;
}

export interface StoredObjectStore {
  /** Seconds that a response is kept; 0 = none is. */
  readonly lifetime: number;
  /** Most bytes that one user's files may have together. */
  readonly fileLimit: number;
  /** undefined when there is none, when it is another's, and when its time is over. */
  find(kind: StoredKind, object_id: string, user_id: number): Promise<Stored | undefined>;
  /** Adds an entry, or replaces one of the same owner; an id that another user has stays as it is. */
  put(entry: Omit<Stored, "created_at" | "bytes"> & { created_at?: number; bytes?: number }): Promise<void>;
  /** Entries of a chain live as long as the newest of them. */
  prolong(kind: StoredKind, object_ids: readonly string[], user_id: number, expires_at: number): Promise<void>;
  remove(kind: StoredKind, object_id: string, user_id: number): Promise<void>;
  /** In the order of creation. */
  list(kind: StoredKind, user_id: number, page: StoredPage): Promise<Stored[]>;
  /** Bytes of a user's entries together. */
  size(kind: StoredKind, user_id: number): Promise<number>;
}
