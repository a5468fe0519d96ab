/**
 * A call with a large body: while an upstream is waited for, what the call said is in a temporary file and not in
 * memory (architecture: bodies over 4 MB spool). Its bytes come back for each attempt, and what is sent flows from the
 * file.
 */
import type { Call } from "../call/call";
import type { Outgoing } from "../providers/provider";
import type { Selection } from "../routing/channel-selector";
import { keepsAnswers } from "../providers/capabilities";
import { Spool } from "../../lib/request-body/spool-file";
import type { Bytes } from "../../lib/sse";

/** A range [start, end) of the file. */
export type Place = readonly [start: number, end: number];

const nothing: Bytes = Buffer.alloc(0);

export class LargeBody {
  readonly #spool = new Spool();
  /** Where bytes are that are in the file already, for as long as somebody has them. */
  readonly #places = new WeakMap<Bytes, Place>();
  #end = 0;

  /** Writes the caller's body to its file. */
  static async of(bytes: Bytes): Promise<LargeBody> {
    const large = new LargeBody();
    try {
      await large.#write(bytes);
    } catch (error) {
      large.close();
      throw error;
    }
    large.#end = bytes.length;
    return large;
  }

  async #write(bytes: Bytes): Promise<Place> {
    const known = this.#places.get(bytes);
    if (known) return known;
    const start = this.#spool.size;
    await this.#spool.add(bytes);
    await this.#spool.end();
    const place: Place = [start, this.#spool.size];
    this.#places.set(bytes, place);
    return place;
  }

  /** The caller's body again. */
  async read(): Promise<Bytes> {
    const bytes = await this.#spool.read(0, this.#end);
    this.#places.set(bytes, [0, this.#end]);
    return bytes;
  }

  /** The same at once, for whoever cannot wait. */
  readNow(): Bytes {
    return this.#spool.readNow(0, this.#end);
  }

  /** What a request sends, from the file. Its bytes leave memory, if nobody else has them. */
  async send(outgoing: Outgoing): Promise<ReturnType<Spool["body"]>> {
    // Sent a second time there are no bytes left.
    if (outgoing.body.length > 0) {
      outgoing.place = await this.#write(outgoing.body);
      outgoing.body = nothing;
    }
    return this.#spool.body([outgoing.place ?? [0, 0]]);
  }

  /** Lets the file go. May be called again. */
  close(): void {
    this.#spool.close();
  }
}

/**
 * Before the first attempt: what a call says goes to a file. Where the disk refuses, it stays in memory and the call
 * goes on.
 * `selection`: who may serve it.
 */
export async function putAway(call: Call, selection: Selection): Promise<void> {
  const { request, thread, operation, engine, request_id } = call;
  // Answers repeat the settings of a call, never what it said.
  if (request.wire) {
    const { input: _, ...settings } = request.wire;
    request.wire = settings;
  }
  if (selection.candidates.every((channel) => keepsAnswers(channel, operation))) thread?.forgetInput();
  try {
    call.large = await LargeBody.of(call.body);
  } catch (err) {
    engine.log.warn({ err, request_id }, "a large body stays in memory");
  }
}

/** Before an attempt: its request is made of the caller's bytes. */
export async function bringBack(call: Call, large: LargeBody): Promise<void> {
  if (call.body.length === 0) call.body = await large.read();
}

/** The request is made: it is sent from the file, and nobody keeps the bytes. */
export function sendFromFile(call: Call, large: LargeBody, outgoing: Outgoing): void {
  outgoing.large = large;
  call.body = nothing;
}
