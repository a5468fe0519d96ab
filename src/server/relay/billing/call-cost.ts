/** What a charged call cost its operator. */
import { canonicalModel } from "../../../shared/channel-types";
import { costOf } from "../../../shared/cost";
import type { Usage } from "../../protocol/chat-events";
import type { Attempted } from "../call/call";

/** Billionths of a dollar; null: not known. What was waived or paid by the caller makes no difference to the vendor. */
export function costOfCall({ call, channel, terms, translation }: Attempted, usage: Usage): number | null {
  const { held_at, asked } = call;
  const model = canonicalModel(translation.upstream_model || asked.request.model);
  const batch = terms?.shown?.batch !== undefined;
  const own = terms?.priced && { priced: terms.priced };
  const { now, option } = asked.engine.controlPlane;
  const moment = channel.setting.cost_at === "completion" ? now() : held_at;
  const billed = { model, moment, usage, times: terms?.times, batch, facts: translation.facts, ...own };
  return costOf(channel.setting, billed, option.currencyRates);
}
