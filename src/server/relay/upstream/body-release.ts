/**
 * A call with a large body: while an upstream is waited for, what the call said is in a temporary file and not in
 * memory (bodies over 4 MB spool). Its bytes come back for each attempt, and what is sent flows from the file.
 */
import type { Admitted } from "../call/call";
import type { RequestContent } from "../call/request-content";
import type { Outgoing } from "../providers/provider";
import { isStateful } from "../providers/capabilities";
import { SpooledBody } from "../../lib/request-body/spooled-body";

/**
 * Before the first attempt: what a call says goes to a file. Where the disk refuses, it stays in memory and the call
 * goes on.
 */
export async function spillToDisk({ asked, selection }: Admitted): Promise<void> {
  const { conversation, operation, engine, request_id, content } = asked;
  if (selection.candidates.every((channel) => isStateful(channel, operation))) conversation?.forgetInput();
  try {
    content.keepIn(await SpooledBody.of(content.bytes));
  } catch (err) {
    engine.log.warn({ err, request_id }, "a large body stays in memory");
  }
}

/** The request is made: it is sent from the file, and its bytes leave memory. */
export function sendFromFile(content: RequestContent, file: SpooledBody, outgoing: Outgoing): void {
  outgoing.spooled = file;
  content.drop();
}
