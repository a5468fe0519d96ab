/** A job's submit as a call of the relay: price, channels, limits, hold. */
import { knownClientType } from "../../../shared/client-type";
import { fail } from "../../../shared/errors";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { Deadlines } from "../call/deadlines";
import type { SideRequest } from "../admission/side-call";
import type { Call } from "../call/call";
import { maxPrice } from "../billing/call-price";
import { keyOwning } from "../routing/key-rotation";
import { enter } from "../admission/rate-limit";
import { CallBilling } from "../billing/call-billing";
import type { Terms } from "../../protocol/call-terms";
import { checkLength, type Operation } from "../operations/operation";
import type { PoolChannel } from "../../contracts/channel";
import type { Selection } from "../routing/channel-selector";
import { refuseSensitive } from "../admission/word-filter";
import { traceOf } from "../call/observers";
import { termsOf, unitsOf } from "./price";
import type { TaskOrder, TaskProvider } from "./provider";

export interface Prepared {
  call: Call;
  billing: CallBilling;
  selection: Selection;
}

const upstreamName = ({ model_mapping }: PoolChannel, model: string): string => model_mapping.get(model) ?? model;

/** Who asks this channel; undefined: nobody can. */
export function providerFor<Input>(
  { kind, model, input, action }: TaskOrder<Input>,
  channel: PoolChannel,
): TaskProvider<Input> | undefined {
  const name = upstreamName(channel, model);
  return kind.providers.find(
    (provider) =>
      provider.types.some((key) => key === channel.type.key) &&
      (provider.serves?.(channel, name, input, action) ?? true),
  );
}

/**
 * Throws what the caller gets when it is refused before a channel is asked. Holds the dearest price that is possible.
 */
export async function prepare<Input>(
  sideRequest: SideRequest,
  order: TaskOrder<Input>,
  arrived: number,
  task_id: string,
): Promise<Prepared> {
  const { engine, caller, request, lang, ip, path, dialect, responder, request_id } = sideRequest;
  const { controlPlane } = engine;
  const { kind, model, parent } = order;
  const at = order.at ?? parent;
  if (!kind.enabled(controlPlane.option)) fail("tasks_disabled");
  checkLength("model", model, TEXT_LIMITS.model);
  checkLength("prompt", order.prompt, TEXT_LIMITS.task_prompt);
  checkLength("input", JSON.stringify(order.kept), TEXT_LIMITS.task_input);
  if (caller.models && !caller.models.has(model)) fail("token_model_denied", { model });
  refuseSensitive(controlPlane, { ...order.kept, prompt: order.prompt });
  const operation: Operation = {
    key: kind.operation,
    streams: false,
    read: () => fail("invalid_request", { detail: path }),
  };
  const supports = (channel: PoolChannel): boolean => providerFor(order, channel) !== undefined;
  // What follows a job goes to its channel, and to the account that holds it.
  const from = at ? { ...caller, channel_id: at.channel_id } : caller;
  const selection = engine.routing.select({ caller: from, operation, model, supports });
  if (at) selection.restrictTo((channel) => keyOwning(channel, at.channel_key_id));
  if (selection.left === 0) fail("channel_disabled");
  const listed = maxPrice(controlPlane, caller, model, selection.candidates) ?? fail("model_price_missing", { model });
  const { terms: its, price } =
    dearestOf(
      selection.candidates.flatMap((channel) => {
        const provider = providerFor(order, channel);
        const itsTerms =
          provider && termsOf(provider.terms?.(order.input, upstreamName(channel, model), order.action, parent));
        return itsTerms ? [{ terms: itsTerms, price: itsTerms.priced?.(listed) ?? listed }] : [];
      }),
    ) ?? fail("operation_unsupported", { group: caller.group, model });
  // A price by tokens is held whole as well: its terms say how many there will be.
  const terms: Terms = { ...its, least_hold: costOf({ terms: its, price }) };
  const call: Call = {
    dialect,
    operation,
    caller,
    lang,
    ip,
    path,
    client_type: knownClientType(request.headers.get("user-agent") ?? ""),
    betas: "",
    api_version: "",
    request_id,
    arrived,
    engine,
    request: { model, stream: false, include_usage: false, terms },
    body: Buffer.alloc(0),
    form: undefined,
    price,
    input_bound: 0,
    deadlines: new Deadlines(() => controlPlane.now(), engine.timers),
    attempts: [],
    explain: () => selection.explain(),
    task_id,
    channel: undefined,
    limitRequest: { model, tokens: 0, units: 0 },
    channelSlot: undefined,
    upstream_model: "",
    upstream_request_id: "",
    warnings: [],
    first_content_at: -1,
    left: false,
    over: false,
    onLeave: undefined,
    ...traceOf(engine, request),
  };
  const billing = new CallBilling(call);
  const admission = controlPlane.limits.admit(caller, call.limitRequest);
  if (admission) call.admission = enter(await admission, responder);
  try {
    await billing.hold();
  } catch (error) {
    await call.admission?.end({ tokens: 0, success: false, units: 0 });
    throw error;
  }
  return { call, billing, selection };
}

interface Quote {
  terms: Terms;
  price: Call["price"];
}

const costOf = ({ price, terms: { usage, times } }: Quote): number =>
  unitsOf(price, { usage, ...(times && { times }) });

const dearestOf = (all: readonly Quote[]): Quote | undefined => all.toSorted((a, b) => costOf(b) - costOf(a))[0];
