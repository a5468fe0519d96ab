/** An error answer, before a dialect spells it. */

/** An error answer, not yet spelled. */
export interface RelayError {
  status: number;
  /** OpenAI's word for the kind; other dialects derive theirs from it. */
  type: string;
  code: string;
  message: string;
  param: string | null;
  retry_after_s?: number;
}
