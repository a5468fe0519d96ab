/**
 * Attempts at channels that failed by the channel's own fault, as rows of the log tell them: the roll-ups and the
 * alerts count the same.
 */
import { type SQL, sql } from "drizzle-orm";
import { errors, type ErrorCode } from "../../../shared/errors";
import { FAILURES, type FailureKind } from "../../../shared/failures";
import { type ConsumeOther, LOG_TYPE } from "../../../shared/log";
import type { Db } from "../../db/types";

/** Whether a failed call's code is a fault of an upstream or of this server: a caller's own mistake is none. */
export function isFault(code: string): boolean {
  if (code.startsWith("failure.")) {
    const kind = code.slice("failure.".length) as FailureKind;
    return !Object.hasOwn(FAILURES, kind) || FAILURES[kind].class !== "caller";
  }
  return !Object.hasOwn(errors, code) || errors[code as ErrorCode].owner !== "caller";
}

/** Of rows whose `other` names several attempts; log-row.ts writes these two members one after the other. */
const SEVERAL = `%"use_channel":["%","%"],"attempts":%`;

/** `other` of the rows that name several attempts, '' of all others. */
export const severalAttempts = ({ t: { logs } }: Pick<Db, "t">): SQL<string> =>
  sql<string>`case when ${logs.other} like ${sql.raw(`'${SEVERAL}'`)} then ${logs.other} else '' end`;

type Told = Partial<Pick<ConsumeOther, "admin_info" | "passed_steps" | "request_path">>;

/** What is read of a row; `several`: as `severalAttempts` selects it. */
interface AttemptsRow {
  type: number;
  channel: number;
  model_name: string;
  code: string;
  end_reason: string;
  several: string;
}

export interface FailedAttempt {
  channel: number;
  /** '' where the row does not tell: the steps of a virtual model ask for one after the other. */
  model_name: string;
}

/** The failed attempts besides the one in which a failed call ended. */
export function passedAttempts({ type, model_name, several }: Omit<AttemptsRow, "code" | "end_reason">) {
  const other = several === "" ? undefined : parsed(several);
  // Every response of a session has the attempts of its one connection.
  if (!other || other.request_path === "/v1/realtime") return [];
  const attempts = other.admin_info?.attempts ?? [];
  const model = other.passed_steps ? "" : model_name;
  return (type === LOG_TYPE.error ? attempts.slice(0, -1) : attempts).flatMap(({ channel, failure }): FailedAttempt[] =>
    channel > 0 && failure !== "" && isFault(`failure.${failure}`) ? [{ channel, model_name: model }] : [],
  );
}

/** All of them. A caller who left says nothing about the channel. */
export function failedAttempts(row: AttemptsRow): FailedAttempt[] {
  const { type, channel, model_name, code, end_reason } = row;
  const passed = passedAttempts(row);
  const its = type === LOG_TYPE.error && channel > 0 && end_reason !== "caller_left" && isFault(code);
  return its ? [...passed, { channel, model_name }] : passed;
}

function parsed(other: string): Told | undefined {
  try {
    return JSON.parse(other) as Told;
  } catch {
    return undefined;
  }
}
