/** A job's submit as a call of the relay: price, channels, limits, hold. */
import { fail } from "../../../shared/errors";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import type { SideRequest } from "../admission/side-call";
import type { Asked } from "../call/call";
import { RequestContent } from "../call/request-content";
import { admitAndHold, type Opened } from "../billing/admit-and-hold";
import { maxPrice } from "../billing/call-price";
import { keyOwning } from "../routing/key-rotation";
import type { CompiledPrice } from "../../../shared/pricing";
import type { Terms } from "../../protocol/call-terms";
import { checkLength, type Operation } from "../operations/operation";
import type { PoolChannel } from "../../contracts/channel";
import { requireModel } from "../admission/model-access";
import { refuseSensitive } from "../admission/word-filter";
import { jobPrice, termsOf, unitsOf } from "./price";
import type { TaskOrder, TaskProvider } from "./provider";

const upstreamName = ({ model_mapping }: PoolChannel, model: string): string => model_mapping.get(model) ?? model;

/** The provider for this channel; undefined: none. */
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

/** Throws the caller's error when it is refused before a channel is called. Holds the highest price possible. */
export async function prepare<Input>(
  sideRequest: SideRequest,
  order: TaskOrder<Input>,
  arrived: number,
  task_id: string,
): Promise<Opened> {
  const { engine, caller, path, responder } = sideRequest;
  const { controlPlane } = engine;
  const { kind, model, parent } = order;
  const at = order.at ?? parent;
  if (!kind.enabled(controlPlane.option)) fail("tasks_disabled");
  checkLength("model", model, TEXT_LIMITS.model);
  checkLength("prompt", order.prompt, TEXT_LIMITS.task_prompt);
  checkLength("input", JSON.stringify(order.kept), TEXT_LIMITS.task_input);
  requireModel(caller, model);
  refuseSensitive(controlPlane, { ...order.kept, prompt: order.prompt });
  const operation: Operation = {
    key: kind.operation,
    streams: false,
    read: () => fail("invalid_request", { detail: path }),
  };
  const supports = (channel: PoolChannel): boolean => providerFor(order, channel) !== undefined;
  // A follow-up job goes to the channel of the job before it, and to the account that stores it.
  const from = at ? { ...caller, channel_id: at.channel_id } : caller;
  const selection = engine.routing.select({ caller: from, operation, model, supports });
  if (at) selection.restrictTo((channel) => keyOwning(channel, at.channel_key_id));
  if (selection.left === 0) fail("channel_disabled");
  const held_at = controlPlane.now();
  const highest = (made: (listed: CompiledPrice) => CompiledPrice): CompiledPrice =>
    maxPrice(controlPlane, caller, model, selection.candidates, made) ?? fail("model_price_missing", { model });
  highest((listed) => listed);
  const { terms: its, price } =
    dearestOf(
      selection.candidates.flatMap((channel) => {
        const provider = providerFor(order, channel);
        const itsTerms =
          provider && termsOf(provider.terms?.(order.input, upstreamName(channel, model), order.action, parent));
        return itsTerms
          ? [{ terms: itsTerms, price: highest((listed) => jobPrice(order, held_at, itsTerms, listed)) }]
          : [];
      }),
    ) ?? fail("operation_unsupported", { group: caller.group, model });
  // A price by tokens is held whole as well: its terms give the number of tokens.
  const terms: Terms = { ...its, least_hold: costOf({ terms: its, price }) };
  const asked: Asked = {
    engine,
    caller,
    dialect: sideRequest.dialect,
    lang: sideRequest.lang,
    ip: sideRequest.ip,
    path,
    client_type: sideRequest.client_type,
    betas: sideRequest.betas,
    api_version: sideRequest.api_version,
    request_id: sideRequest.request_id,
    traceparent: sideRequest.traceparent,
    arrived,
    operation,
    request: { model, stream: false, include_usage: false, terms },
    content: new RequestContent(),
    form: undefined,
    input_bound: 0,
    conversation: undefined,
    task_id,
  };
  return admitAndHold(asked, { selection, affinity_key: undefined }, { price, held_at }, responder);
}

interface Quote {
  terms: Terms;
  price: CompiledPrice;
}

const costOf = ({ price, terms: { usage, times } }: Quote): number =>
  unitsOf(price, { usage, ...(times && { times }) });

const dearestOf = (all: readonly Quote[]): Quote | undefined => all.toSorted((a, b) => costOf(b) - costOf(a))[0];
