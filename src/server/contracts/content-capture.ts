/** The content of calls, for operators who keep it. */

/** The beginning of a text, and the length of the whole. */
export interface Sample {
  text: string;
  /** Bytes of the whole. */
  size: number;
}

/** Stores the content of a call; returns at once and never throws. */
export type KeepContent = (call: { request_id: string; user_id: number }, request: Sample, response: Sample) => void;
