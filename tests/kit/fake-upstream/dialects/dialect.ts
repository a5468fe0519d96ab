/** What every dialect writes. One file per dialect implements it. */
import type { Answer, Json, Prompt } from "../answer";

export interface Frame {
  /** SSE event name, where the dialect uses them. */
  event?: string;
  /** JSON text, or the dialect's end mark. */
  data: string;
  /** opening: before content; closing: between content and finish; usage: held back by late-usage. */
  kind: "opening" | "content" | "closing" | "finish" | "usage" | "done";
}

export type ErrorKind = "invalid_key" | "no_quota" | "overloaded" | number;

export interface ErrorAnswer {
  status: number;
  headers?: Record<string, string>;
  body: Json;
}

export interface Dialect {
  prompt(request: Json): Prompt;
  /** The body of an answer that is not streamed. */
  whole(answer: Answer, request: Json): Json;
  frames(answer: Answer, request: Json): Frame[];
  /** The vendor's error object for a status or a named case. */
  error(kind: ErrorKind, message?: string): ErrorAnswer;
  /** The vendor's error inside a running stream of which `sent` frames are out. */
  errorFrame(sent: number): Frame;
  /** A keep-alive event the vendor sends, where there is one beside SSE comments. */
  ping?: Frame;
}
