/**
 * A call with a large body: while an upstream works, the content is in a temporary file and not in memory (bodies over
 * 4 MB spool). Its bytes are loaded for each attempt, and the request is sent from the file.
 */
import type { Admitted } from "../call/call";
import type { RequestContent } from "../call/request-content";
import type { Outgoing } from "../providers/provider";
import { isStateful } from "../providers/capabilities";
import { SpooledBody } from "../../lib/request-body/spooled-body";

/**
 * Called before the first attempt: writes the content to a file. When the disk fails, it stays in memory and the call
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
