/**
 * What a call costs at its end, by how it ended. What failed before its first content never comes here: it is free. Beyond that
 * the channel decides (setting.bill_broken, setting.bill_left); by default what was produced is paid.
 */
import type { EndReason } from "../../shared/log";
import { ownToolOf } from "../../shared/model-prices";
import { type Charge, chargeOf } from "../../shared/charge";
import type { Call } from "./call";
import { tokensOfContent, tokensOfText } from "./estimate";
import type { Usage } from "./events";

/** How a call ended, for its bill. */
export interface Ending {
  end_reason: EndReason;
  /** undefined: none came, the tokens are estimated from the request and `content_bytes`. */
  usage: Usage | undefined;
  content_bytes: number;
}

/** Ends that are the upstream's doing. */
const broken: ReadonlySet<EndReason> = new Set(["upstream_error", "upstream_cut", "idle_timeout"]);
const nothing: Charge = { quota: 0, exact: "0", lines: [] };

function isWaived({ channel }: Call, reason: EndReason): boolean {
  if (broken.has(reason)) return channel?.setting.bill_broken === "free";
  return reason === "caller_left" && channel?.setting.bill_left === "free";
}

export interface FinalCharge {
  readonly charge: Charge;
  readonly usage: Usage;
  /** No usage came: the tokens are an estimate. */
  readonly estimated: boolean;
  /** The channel asks nothing for a call that ended so. */
  readonly waived: boolean;
}

export function chargeAtEnd(call: Call, { end_reason, usage: reported, content_bytes }: Ending): FinalCharge {
  const { terms } = call.request;
  const usage = withOwnTool(call, reported ?? terms?.usage ?? estimateUsage(call, content_bytes));
  const waived = isWaived(call, end_reason);
  const charge = waived ? nothing : chargeOf(call.price, usage, terms?.times);
  return { charge, usage, estimated: reported === undefined && !terms?.exact, waived };
}

/** A model that always searches does not say so in its usage. */
function withOwnTool({ operation, request }: Call, usage: Usage): Usage {
  const tool = operation.key === "chat" && !usage.server_tools ? ownToolOf(request.model) : undefined;
  return tool === undefined ? usage : { ...usage, server_tools: { [tool]: 1 } };
}

/**
 * Embedded files count by their allowance (input_bound), not by their bytes; what a stored conversation adds to the bound is
 * counted in tokens already.
 */
function estimateUsage({ body, input_bound }: Call, contentBytes: number): Usage {
  const share = body.length > 0 ? Math.min(1, input_bound / body.length) : 0;
  const beyond = Math.max(0, input_bound - body.length);
  const input = share > 0 ? Math.ceil(tokensOfText(body) * share) + beyond : tokensOfContent(input_bound);
  return { input, output: tokensOfContent(contentBytes) };
}
