/** Contents of calls, for operators who keep them. */

/** The beginning of a text, and how long the whole is. */
export interface Sample {
  text: string;
  /** Bytes of the whole. */
  size: number;
}

/** Keeps what a call said; answers at once and never throws. */
export type KeepContent = (call: { request_id: string; user_id: number }, request: Sample, response: Sample) => void;
