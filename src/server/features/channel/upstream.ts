/** Calls to a channel's upstream outside the relay (test, model list), at the relay's own addresses and headers. */
import type { ChannelType } from "../../../shared/channel-types";
import { providerOf } from "../../relay/providers/registry";
import { redact } from "../../relay/providers/redact";
import { headersOf } from "../../relay/providers/param-override";
import { initFor } from "../../relay/providers/provider-context";
import type { PoolChannel } from "../../contracts/channel";

/** A channel that only exists as a form, for the calls above. */
export function unsavedChannel(type: ChannelType, base_url: string, key: string): PoolChannel {
  return {
    id: 0,
    name: "",
    type,
    key,
    base_url,
    other: "",
    organization: "",
    models: new Set(),
    groups: new Set(),
    priority: 0,
    weight: 0,
    auto_ban: false,
    model_mapping: new Map(),
    status_mapping: new Map(),
    setting: {},
    test_model: "",
  };
}

/** Headers with the channel's key and its header_override; undefined when its type needs code that does not exist. */
export function upstreamHeaders(channel: PoolChannel): Record<string, string> | undefined {
  const provider = providerOf(channel);
  return provider && headersOf(provider, channel);
}

/**
 * Common to all these calls: one deadline, the channel's proxy, and no redirect, which could send the key anywhere. To
 * be sent by fetchThrough (lib/proxy.ts), which supports every kind of proxy.
 */
export function upstreamInit(channel: PoolChannel, timeoutMs: number, signal?: AbortSignal): BunFetchRequestInit {
  return initFor(channel, deadlineOf(timeoutMs, signal));
}

/** A signal that aborts after `timeoutMs`, or with the other. */
export function deadlineOf(timeoutMs: number, signal?: AbortSignal): AbortSignal {
  const deadline = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, deadline]) : deadline;
}

/** The names in an upstream's model list; undefined when the answer has another shape. */
export function modelNames(
  shape: "openai" | "anthropic" | "gemini" | "ollama" | "cohere",
  text: string,
): string[] | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  const openai = shape === "openai" || shape === "anthropic";
  const list = (body as Record<string, unknown> | null)?.[openai ? "data" : "models"];
  if (!Array.isArray(list)) return undefined;
  const names = list.map((entry: unknown) => (entry as Record<string, unknown> | null)?.[openai ? "id" : "name"]);
  return [
    ...new Set(
      names
        .filter((name) => typeof name === "string" && name !== "")
        .map((name) => String(name).replace(/^models\//, "")),
    ),
  ];
}

/** The readable part of an upstream's error, at most 300 characters, without the channel's secrets. */
export function upstreamMessage(channel: PoolChannel, status: number, text: string): string {
  let message = text;
  try {
    const body = JSON.parse(text) as { error?: { message?: unknown } | string; message?: unknown } | null;
    const found = typeof body?.error === "string" ? body.error : (body?.error?.message ?? body?.message);
    if (typeof found === "string") message = found;
  } catch {
    // Not JSON: the first text of an HTML page is enough. It is cut after the secrets are removed.
    const page = redact(channel, text).slice(0, 4000);
    message = page.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^<>]*>/g, " ");
  }
  const clean = redact(channel, message).replace(/\s+/g, " ").trim().slice(0, 300);
  return clean ? `HTTP ${status}: ${clean}` : `HTTP ${status}`;
}
