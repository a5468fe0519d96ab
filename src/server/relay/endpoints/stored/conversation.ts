/**
 * What a call of the Responses API continues, and where its answer is stored (OpenAI API reference, responses; types of
 * the `openai` SDK 7.55, read November 2026).
 *
 * A channel that passes such calls through stores its answers itself: we remember the owner and the channel, and route
 * later calls there. Otherwise the conversation is stored here, and a call that continues an answer is sent with all
 * earlier turns. Files are stored by the channel that they were uploaded to, so a call that names one is routed there.
 */
import { AppError, fail } from "../../../../shared/errors";
import { bodyTooLarge } from "../../../lib/request-body/read-body";
import { inputTokenBound } from "../../../lib/request-body/json-body";
import type { Attempted, Engine } from "../../call/call";
import { isObject, type JsonObject, tryParse, withMembers } from "../../../lib/json-bytes";
import { keyOwning } from "../../routing/key-rotation";
import type { Received } from "../../admission/receive";
import { SETTLE_LIMIT_MS } from "../../billing/call-billing";
import type { Operation } from "../../operations/operation";
import type { PoolChannel } from "../../../contracts/channel";
import type { Caller } from "../../../contracts/caller";
import type { Selection } from "../../routing/channel-selector";
import { type Bytes, firstFrameEnd, readFrame } from "../../../lib/sse";
import { isStateful } from "../../providers/capabilities";
import { inputItems, namedFiles } from "./response-items";
import type { StoredObjectStore, Stored } from "../../../contracts/stored-objects";

/** Most turns of one conversation that are joined. */
const MOST_TURNS = 1_000;

/** What is stored of an answer that no upstream stores. */
export interface StoredResponse {
  /** The items of this turn alone. */
  input: readonly JsonObject[];
  /** The response object as the caller received it. */
  response: JsonObject;
}

/** The stored state; undefined for an entry that this module did not write. */
export function storedResponse({ value }: Stored): StoredResponse | undefined {
  if (!isObject(value) || !isObject(value.response) || !Array.isArray(value.input)) return undefined;
  return { input: value.input.filter(isObject), response: value.response };
}

const outputOf = ({ response }: StoredResponse): JsonObject[] =>
  Array.isArray(response.output) ? response.output.filter(isObject) : [];

/** The turns up to a response that is stored here, oldest first. Throws `missing` when one of them is gone. */
export async function turnsUntil(
  storedObjects: StoredObjectStore,
  newest: Stored,
  user_id: number,
  missing: () => AppError,
): Promise<{ ids: string[]; turns: StoredResponse[] }> {
  const ids: string[] = [];
  const turns: StoredResponse[] = [];
  for (
    let entry: Stored | undefined = newest;
    ;
    entry = await storedObjects.find("response", entry.parent_id, user_id)
  ) {
    const kept = entry && storedResponse(entry);
    if (!entry || !kept || turns.length >= MOST_TURNS) throw missing();
    ids.unshift(entry.object_id);
    turns.unshift(kept);
    if (entry.parent_id === "") return { ids, turns };
  }
}

/** The full input of an answer: all earlier turns and the input of its own call. */
export const itemsBefore = (turns: readonly StoredResponse[]): JsonObject[] =>
  turns.flatMap((turn, index) => (index === turns.length - 1 ? turn.input : [...turn.input, ...outputOf(turn)]));

const previousMissing = (id: string): AppError => new AppError("previous_response_not_found", { id });

/** The channel that a call's references bind it to. */
interface Binding {
  /** undefined: any channel that stores answers. */
  at?: Pick<Stored, "channel_id" | "channel_key_id">;
  native: boolean;
  /** The error when that channel is gone. */
  missing: AppError;
}

export class StoredConversation {
  private constructor(
    readonly operation: Operation,
    readonly binding: Binding | undefined,
    /** The id that the call continues, "" = none. */
    readonly previous: string,
    /** The earlier responses of the conversation that are stored here. */
    readonly ids: readonly string[],
    /** The input of the call itself; undefined where it is not stored. */
    private input: readonly JsonObject[] | undefined,
  ) {}

  get continues(): string | undefined {
    return this.ids.length > 0 ? this.previous : undefined;
  }

  /** Frees the input: the vendor stores it. */
  forgetInput(): void {
    if (this.input) this.input = [];
  }

  /**
   * Reads what a call refers to, and completes a call that continues an answer stored here (`received.body`). undefined
   * when it refers to nothing and is not stored. Throws previous_response_not_found, file_not_found,
   * background_unsupported, invalid_request, body_too_large.
   */
  static open(
    engine: Engine,
    caller: Caller,
    operation: Operation,
    received: Received,
  ): Promise<StoredConversation | undefined> | undefined {
    const { json } = received;
    if (!operation.refers || !json) return undefined;
    const files = namedFiles(received.body, json);
    if (operation.refers === "files" && files.length === 0) return undefined;
    return StoredConversation.#open(engine, caller, operation, received, json, files);
  }

  static async #open(
    engine: Engine,
    { user_id }: Caller,
    operation: Operation,
    received: Received,
    json: JsonObject,
    files: readonly string[],
  ): Promise<StoredConversation> {
    const { storedObjects, option } = engine.controlPlane;
    let binding: Binding | undefined;
    for (const id of files) {
      const missing = new AppError("file_not_found", { id });
      const file = await storedObjects.find("file", id, user_id);
      if (!file || (binding?.at && !isSamePlace(binding.at, file))) throw missing;
      binding = { at: file, missing, native: false };
    }
    if (operation.refers === "files") return new StoredConversation(operation, binding, "", [], undefined);

    // Only /v1/responses itself runs in the background, and those calls have already gone to tasks/background.
    if (json.background === true && !operation.streams) fail("background_unsupported");
    if (json.conversation !== undefined && json.conversation !== null)
      fail("invalid_request", { detail: "conversation" });
    const named = inputItems(json.input);
    const own = named.some(isReference)
      ? await Promise.all(named.map((item) => lookUp(storedObjects, item, user_id)))
      : named;
    const unresolved = own.find(isReference);
    // Only a vendor that stores answers can have it.
    if (unresolved && !binding)
      binding = { native: true, missing: new AppError("item_not_found", { id: String(unresolved.id) }) };
    const resolved = own.some((item, index) => item !== named[index]);
    const input = operation.streams && json.store !== false && storedObjects.lifetime > 0 ? own : undefined;
    const previous = json.previous_response_id ?? "";
    if (typeof previous !== "string") fail("invalid_request", { detail: "previous_response_id" });
    if (previous === "") {
      if (resolved) rewrite(received, { input: own.map(withoutId) }, option.maxBodyBytes);
      return new StoredConversation(operation, binding, "", [], input);
    }

    const missing = previousMissing(previous);
    const entry = await storedObjects.find("response", previous, user_id);
    if (!entry) throw missing;
    // The model is that of the answer, where the call names none (openai SDK 7.55, ResponseCreateParams: optional).
    if (received.asked.model === "") {
      if (entry.model === "") fail("model_missing");
      received.asked = { ...received.asked, model: entry.model, model_added: true };
    }
    if (entry.channel_id !== 0) {
      if (binding?.at && !isSamePlace(binding.at, entry)) throw binding.missing;
      if (resolved) rewrite(received, { input: own.map(withoutId) }, option.maxBodyBytes);
      const { tokens } = isObject(entry.value) ? entry.value : {};
      if (typeof tokens === "number") received.input_bound += tokens;
      return new StoredConversation(operation, { at: entry, missing, native: true }, previous, [], input);
    }
    const { ids, turns } = await turnsUntil(storedObjects, entry, user_id, () => missing);
    const last = turns.at(-1);
    const conversation = [...itemsBefore(turns), ...(last ? outputOf(last) : []), ...own];
    rewrite(received, { input: conversation.map(withoutId), previous_response_id: null }, option.maxBodyBytes);
    return new StoredConversation(operation, binding, previous, ids, input);
  }

  /** The channel with the key that has what the call refers to; undefined when it does not. */
  boundChannel(channel: PoolChannel): PoolChannel | undefined {
    const { at, native } = this.binding ?? {};
    if (native && !isStateful(channel, this.operation)) return undefined;
    if (!at) return channel;
    return at.channel_id === channel.id ? keyOwning(channel, at.channel_key_id) : undefined;
  }

  /** Keeps the channels that can serve the call. Throws the caller's error when there is none. */
  narrow(selection: Selection): void {
    if (!this.binding) return;
    selection.restrictTo((channel) => this.boundChannel(channel));
    if (selection.left === 0) throw this.binding.missing;
  }

  /**
   * Stores a complete answer before its caller can refer to it. `last`: the body, or the last frames of the stream,
   * which repeat it. Never throws: the caller gets the answer even when it could not be stored.
   */
  async keep({ call, channel }: Attempted, last: Uint8Array): Promise<void> {
    const { caller, engine, request, request_id, virtual } = call.asked;
    const { storedObjects, now } = engine.controlPlane;
    if (!this.input) return;
    const response = responseIn(Buffer.from(last));
    const id = response?.id;
    if (!response || typeof id !== "string" || id === "") return;
    const { user_id, token_id } = caller;
    const there = isStateful(channel, this.operation);
    const expires_at = Math.floor(now() / 1000) + storedObjects.lifetime;
    const tag = id.replace(/^resp_/, "");
    const kept: StoredResponse = { input: this.input.map((item, index) => withId(item, tag, index)), response };
    const work = (async () => {
      await storedObjects.put({
        kind: "response",
        object_id: id,
        user_id,
        token_id,
        channel_id: there ? channel.id : 0,
        channel_key_id: there ? (channel.key_row?.id ?? 0) : 0,
        model: virtual?.name ?? request.model,
        parent_id: this.previous,
        status: typeof response.status === "string" ? response.status : "",
        expires_at,
        value: there ? { tokens: tokensOf(response) } : kept,
      });
      if (this.ids.length > 0) await storedObjects.prolong("response", this.ids, user_id, expires_at);
    })().catch((error: unknown) => engine.log.error({ err: error, request_id }, "a response could not be kept"));
    // A database that hangs must not delay the caller's answer.
    await new Promise<void>((resolve) => {
      const cancel = engine.timers.after(SETTLE_LIMIT_MS, resolve);
      void work.then(() => {
        cancel();
        resolve();
      });
    });
  }
}

const isSamePlace = (one: Pick<Stored, "channel_id" | "channel_key_id">, other: typeof one): boolean =>
  one.channel_id === other.channel_id && one.channel_key_id === other.channel_key_id;

/** Replaces members of the request body. Throws body_too_large. */
function rewrite(received: Received, members: JsonObject, most: number): void {
  received.body = withMembers(received.body, members);
  if (received.body.length > most) throw bodyTooLarge(most);
  received.input_bound = inputTokenBound(received.body);
}

const isReference = (item: JsonObject): boolean => item.type === "item_reference";

/** The item that a reference names, if it is part of an answer stored here; otherwise the reference itself. */
async function lookUp(storedObjects: StoredObjectStore, item: JsonObject, user_id: number): Promise<JsonObject> {
  // Our item ids contain the id of their answer: withId, and the encoders of the dialect.
  const tag =
    isReference(item) && typeof item.id === "string" ? /^[a-z]+_(.+)_(?:in)?\d+$/.exec(item.id)?.[1] : undefined;
  const entry = tag === undefined ? undefined : await storedObjects.find("response", `resp_${tag}`, user_id);
  const kept = entry && storedResponse(entry);
  return (kept && [...kept.input, ...outputOf(kept)].find(({ id }) => id === item.id)) ?? item;
}

/** All tokens of an answer that its vendor stores: they are billed as input of a call that continues it. */
function tokensOf({ usage }: JsonObject): number {
  const total = isObject(usage) ? usage.total_tokens : undefined;
  return typeof total === "number" && Number.isFinite(total) && total > 0 ? Math.ceil(total) : 0;
}

/** The response object of a body, or of the last frames of a stream. */
function responseIn(bytes: Bytes): JsonObject | undefined {
  const whole = tryParse(bytes);
  if (isObject(whole)) return whole;
  for (let from = 0; from < bytes.length;) {
    const next = firstFrameEnd(bytes, from, bytes.length);
    const end = next < 0 ? bytes.length : next;
    const event = tryParse(Buffer.from(readFrame(bytes.subarray(from, end)).data ?? ""));
    if (isObject(event) && isObject(event.response)) return event.response;
    from = end;
  }
  return undefined;
}

/** Items are listed by their ids, which callers may leave out. */
function withId(item: JsonObject, tag: string, index: number): JsonObject {
  if (typeof item.id === "string" && item.id !== "") return item;
  const word = typeof item.type === "string" ? (prefixes[item.type] ?? "item") : "item";
  return { id: `${word}_${tag}_in${index}`, ...item };
}

const prefixes: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
};

/**
 * Drops our own ids: a vendor would not find them. The signature of reasoning belongs to its id, and messages of the
 * assistant must have one (ResponseOutputMessage).
 */
function withoutId(item: JsonObject): JsonObject {
  if (item.type === "reasoning" || (item.type === "message" && item.role === "assistant")) return item;
  const { id: _id, status: _status, ...rest } = item;
  return rest;
}
