/**
 * The final charge of a call, by the way it ended. A call that failed before its first content is free and never comes
 * here. Otherwise the channel decides (setting.bill_broken, setting.bill_left); by default the output produced is
 * charged.
 */
import type { EndReason } from "../../../shared/log";
import { ownToolOf } from "../../../shared/model-prices";
import type { Charge } from "../../../shared/charge";
import type { CompiledPrice } from "../../../shared/pricing";
import type { UsageDoubt } from "../../../shared/usage-doubt";
import type { Asked, Attempted } from "../call/call";
import { billedFor } from "./call-price";
import { tokensOfContent, tokensOfText } from "./token-estimate";
import type { Usage } from "../../protocol/chat-events";
import { withServed } from "../../protocol/dialects/shared/service-tier";
import { allowsHiddenTurns } from "../../protocol/hidden-turns";
import { type CheckedUsage, checkUsage, countsOutput, isPlain, withSide } from "../../protocol/usage-check";

/** How a call ended, for its bill. */
export interface Ending {
  end_reason: EndReason;
  /** undefined: the upstream reported none; the tokens are estimated from the request and `content_bytes`. */
  usage: Usage | undefined;
  content_bytes: number;
  /** In a stream: how much of the content had arrived when `usage` last counted output. */
  counted_bytes?: number;
}

/** Ends that the upstream caused. */
const broken: ReadonlySet<EndReason> = new Set(["upstream_error", "upstream_cut", "idle_timeout"]);
const nothing: Charge = { quota: 0, exact: "0", lines: [] };

function isWaived({ channel: { setting } }: Attempted, reason: EndReason): boolean {
  if (broken.has(reason)) return setting.bill_broken === "free";
  return reason === "caller_left" && setting.bill_left === "free";
}

export interface FinalCharge {
  readonly charge: Charge;
  /** Of the call as it was served. */
  readonly price: CompiledPrice;
  readonly usage: Usage;
  /** The tokens of a side, or of a part of it, are an estimate. */
  readonly estimated: boolean;
  /** The channel does not charge for a call that ended this way. */
  readonly waived: boolean;
  /** Counts of the upstream that were rejected as impossible. */
  readonly doubts: readonly UsageDoubt[];
}

/** The charge of the attempt that served. */
export function chargeAtEnd(attempt: Attempted, ending: Ending): FinalCharge {
  const { usage: counted, estimated, doubts } = usageAtEnd(attempt, ending);
  const usage = withServed(withOwnTool(attempt.call.asked, counted), attempt.translation.served);
  const waived = isWaived(attempt, ending.end_reason);
  const { charge, price } = waived ? { charge: nothing, price: attempt.price } : billedFor(attempt, usage);
  return { charge, price, usage, estimated, waived, doubts };
}

function usageAtEnd(attempt: Attempted, ending: Ending): CheckedUsage {
  const { call, channel, terms } = attempt;
  const { max_output } = call.asked.request;
  const estimate = (): Usage => terms?.doubted ?? terms?.usage ?? estimateUsage(call.asked, ending.content_bytes);
  // Terms cover pictures and sound; text that arrived is charged as text.
  const made = (): Usage =>
    ending.content_bytes > 0 ? { output: tokensOfContent(ending.content_bytes), ...terms?.usage } : estimate();
  if (ending.usage === undefined) return { usage: terms?.usage ?? estimate(), estimated: !terms?.exact, doubts: [] };
  const { usage, estimated } = withUncounted(ending.usage, ending);
  // As most are.
  if (isPlain(usage)) return { usage, estimated, doubts: [] };
  const checked = checkUsage(usage, {
    estimate: { input: estimate, output: made },
    max_output,
    hidden: () => hidesTurns(attempt),
    ...((channel.type.agent || channel.type.zero_output) && { zero_output: true }),
    ...(channel.setting.trust_usage && { trusted: true }),
  });
  return estimated ? { ...checked, estimated } : checked;
}

/**
 * Content after the last count of output, in a stream that ended early, is estimated and added. A count that came
 * before any content did not count it (Anthropic's first frame says 1): then all of the content is estimated, however
 * the stream ended.
 */
function withUncounted(
  usage: Usage,
  { end_reason, content_bytes, counted_bytes = content_bytes }: Ending,
): { usage: Usage; estimated: boolean } {
  const uncounted = content_bytes - counted_bytes;
  const complete = end_reason === "complete";
  // A zero count at the end of a response is left to the usage check.
  if (uncounted <= 0 || (complete && (counted_bytes > 0 || !countsOutput(usage)))) return { usage, estimated: false };
  const output = tokensOfContent(uncounted);
  if (counted_bytes === 0) return { usage: withSide(usage, "output", { output }), estimated: true };
  return { usage: { ...usage, output: (usage.output ?? 0) + output }, estimated: true };
}

/** Whether the vendor may do more work for this call than its response shows. */
function hidesTurns({ call, channel }: Attempted): boolean {
  const { request } = call.asked;
  if (request.hidden_turns || channel.type.agent || ownToolOf(request.model) !== undefined) return true;
  try {
    return allowsHiddenTurns(channel.override?.({}) ?? {});
  } catch {
    // The channel's rules may fail on an empty body; a charge does not depend on them.
    return false;
  }
}

/** A model that always searches does not report it in its usage. */
function withOwnTool({ operation, request }: Asked, usage: Usage): Usage {
  const tool = operation.key === "chat" && !usage.server_tools ? ownToolOf(request.model) : undefined;
  return tool === undefined ? usage : { ...usage, server_tools: { [tool]: 1 } };
}

/**
 * Embedded files count by their allowance (input_bound), not by their bytes; a stored conversation's part of the bound
 * is already counted in tokens.
 */
function estimateUsage({ content: { bytes }, input_bound }: Asked, contentBytes: number): Usage {
  const share = bytes.length > 0 ? Math.min(1, input_bound / bytes.length) : 0;
  const beyond = Math.max(0, input_bound - bytes.length);
  const input = share > 0 ? Math.ceil(tokensOfText(bytes) * share) + beyond : tokensOfContent(input_bound);
  return { input, output: tokensOfContent(contentBytes) };
}
