/** POST /v1/responses with `background: true`: the response is created later, and polled at its vendor. */
import { AppError, fail } from "../../../../shared/errors";
import type { SideHandler } from "../../admission/side-call";
import { isObject, tryParse } from "../../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../../billing/call-billing";
import type { Received } from "../../admission/receive";
import { responses } from "../../operations/dialect-chat";
import type { Operation } from "../../operations/operation";
import { operationFor } from "../../providers/dispatch";
import { refuseSensitive } from "../../admission/word-filter";
import { StoredConversation } from "../../endpoints/stored/conversation";
import { requestPinnedEvents, requestPinnedJson, urlFor } from "../../upstream/pinned-request";
import { channelOf } from "../file";
import { submitTask } from "../submit";
import { backgroundResponses, type BackgroundInput } from "./response";

export const isBackground = (operation: Operation, { json }: Received): boolean =>
  operation === responses && json?.background === true;

/**
 * Submits it, and returns the vendor's response object. The vendor's id stays, so its owner can fetch, continue and
 * cancel it like any other response. A stream passes the vendor's events through, and the caller may disconnect and
 * resume (`starting_after`). The usage is charged when the poller finds the response finished. Throws
 * background_unsupported when no channel of the model stores responses.
 */
export const submitBackground =
  (received: Received): SideHandler =>
  async (sideRequest) => {
    const { engine, caller, request_id, responder } = sideRequest;
    const { storedObjects, option, now } = engine.controlPlane;
    if (storedObjects.lifetime <= 0) fail("background_unsupported");
    if (received.json?.store === false) fail("invalid_request", { detail: "store" });
    const bytes = received.body;
    const conversation = await StoredConversation.open(engine, caller, responses, received);
    const body = tryParse(received.body);
    if (!isObject(body)) fail("bad_json");
    refuseSensitive(engine.controlPlane, body);
    const { model, max_output } = received.asked;
    const input: BackgroundInput = {
      body: { ...body, model, store: true },
      input: Math.ceil(received.input_bound / BYTES_PER_TOKEN),
      output: Math.min(max_output ?? Infinity, option.maxHoldOutputTokens),
    };
    const at = conversation?.binding?.at;
    const { user_id, token_id } = caller;
    const expires_at = Math.floor(now() / 1000) + storedObjects.lifetime;
    const task = await submitTask(sideRequest, {
      kind: backgroundResponses,
      action: "RESPONSE",
      model,
      input,
      kept: { model },
      prompt: "",
      body: bytes,
      ...(at && { at }),
      accepted: ({ upstream_id, ...place }) =>
        storedObjects.put({
          kind: "response",
          object_id: upstream_id,
          user_id,
          token_id,
          ...place,
          model,
          parent_id: conversation?.previous ?? "",
          status: "queued",
          expires_at,
          value: { tokens: 0 },
        }),
    }).catch((error: unknown) => {
      input.events?.cancel().catch(() => undefined);
      throw error instanceof AppError && error.code === "operation_unsupported"
        ? new AppError("background_unsupported")
        : error;
    });
    if (conversation && conversation.ids.length > 0)
      await storedObjects.prolong("response", conversation.ids, user_id, expires_at);
    if (input.events) return responder.events(input.events);
    if (input.first) return responder.json(JSON.stringify(input.first));
    // A repeated call with the same Idempotency-Key.
    const channel = channelOf(engine, task) ?? fail("response_not_found", { id: request_id });
    const query = new URLSearchParams(received.asked.stream ? { stream: "true" } : {});
    const url = urlFor(
      channel,
      operationFor(channel, responses, ""),
      `/${encodeURIComponent(task.upstream_id)}`,
      query,
      ["stream"],
    );
    if (!received.asked.stream)
      return responder.json((await requestPinnedJson(sideRequest, channel, { method: "GET", url })).body);
    return responder.events(
      (await requestPinnedEvents(sideRequest, channel, { method: "GET", url })) ?? new Uint8Array(),
    );
  };
