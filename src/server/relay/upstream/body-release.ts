/**
 * A call with a large body: while an upstream is waited for, what the call said is in a temporary file and not in
 * memory (architecture: bodies over 4 MB spool). Its bytes come back for each attempt, and what is sent flows from the
 * file.
 */
import type { Call } from "../call/call";
import type { Outgoing } from "../providers/provider";
import type { Selection } from "../routing/channel-selector";
import { isStateful } from "../providers/capabilities";
import { SpooledBody, EMPTY } from "../../lib/request-body/spooled-body";

/**
 * Before the first attempt: what a call says goes to a file. Where the disk refuses, it stays in memory and the call
 * goes on.
 * `selection`: who may serve it.
 */
export async function spillToDisk(call: Call, selection: Selection): Promise<void> {
  const { request, conversation, operation, engine, request_id } = call;
  // Answers repeat the settings of a call, never what it said.
  if (request.wire) {
    const { input: _, ...settings } = request.wire;
    request.wire = settings;
  }
  if (selection.candidates.every((channel) => isStateful(channel, operation))) conversation?.forgetInput();
  try {
    call.spooled = await SpooledBody.of(call.body);
  } catch (err) {
    engine.log.warn({ err, request_id }, "a large body stays in memory");
  }
}

/** Before an attempt: its request is made of the caller's bytes. */
export async function restoreBody(call: Call, spooled: SpooledBody): Promise<void> {
  if (call.body.length === 0) call.body = await spooled.read();
}

/** The request is made: it is sent from the file, and nobody keeps the bytes. */
export function sendFromFile(call: Call, spooled: SpooledBody, outgoing: Outgoing): void {
  outgoing.spooled = spooled;
  call.body = EMPTY;
}
