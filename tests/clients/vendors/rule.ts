/**
 * What a strict vendor refuses, each with where that is known from. A rule whose source is not known only leaves a
 * remark: it may not fail a cell.
 */
import type { Json } from "../../kit/fake-upstream/answer";

/** A vendor's page, or a public record of its answer, and when it was written or read. */
export interface Source {
  readonly at: string;
  /** YYYY-MM */
  readonly date: string;
}

/** What the vendor has given out in this cell. */
export interface Memory {
  /** Signatures and encrypted thoughts. */
  readonly issued: ReadonlySet<string>;
}

export interface Rule {
  readonly name: string;
  readonly source: Source | undefined;
  /** The vendor's message when it refuses the request. */
  readonly refuses: (request: Json, memory: Memory) => string | undefined;
  /** `error.code` of OpenAI's answer. */
  readonly code?: string;
}

export interface Judged {
  refusal: { rule: Rule; message: string } | undefined;
  /** What rules without a source would have said. */
  remarks: string[];
}

/** The first refusal of a request. */
export function judge(rules: readonly Rule[], request: Json, memory: Memory): Judged {
  const remarks: string[] = [];
  for (const rule of rules) {
    const message = rule.refuses(request, memory);
    if (message === undefined) continue;
    if (rule.source) return { refusal: { rule, message }, remarks };
    remarks.push(`${rule.name}: ${message}`);
  }
  return { refusal: undefined, remarks };
}
