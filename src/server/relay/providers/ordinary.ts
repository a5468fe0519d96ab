/** Vendors that use their dialect at an ordinary address with the key in a header. */
import { type AuthStyle, isCodingPlan, operationPath, planAddress, splitKey } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import type { Provider } from "./provider";

/** The key itself and the headers for its other parts (Qianfan: `key|appid`). */
function keyAndHeaders({ type, key }: PoolChannel): { key: string; headers: Record<string, string> } {
  const named = Object.entries(type.key_format.headers);
  if (named.length === 0) return { key, headers: {} };
  const parts = splitKey(type.id, key) ?? {};
  const present = named.flatMap(([header, part]) => (parts[part] ? [[header, parts[part]] as const] : []));
  return { key: parts.api_key ?? key, headers: Object.fromEntries(present) };
}

/** Authorization headers by auth style. Styles that need code (jwt, signed, access-token) are in their providers. */
const authHeader: Readonly<Partial<Record<AuthStyle, (key: string) => [name: string, value: string]>>> = {
  bearer: (key) => ["authorization", `Bearer ${key}`],
  token: (key) => ["authorization", `Token ${key}`],
  "x-api-key": (key) => ["x-api-key", key],
  "api-key": (key) => ["api-key", key],
  "x-goog-api-key": (key) => ["x-goog-api-key", key],
};

const fill = (template: string, channel: PoolChannel, model: string): string =>
  template.includes("{")
    ? template.replace("{model}", encodeURIComponent(model)).replace("{other}", encodeURIComponent(channel.other))
    : template;

/**
 * Behind Cloudflare's AI Gateway the base address names the API; the vendor's own version or deployments are not
 * repeated (developers.cloudflare.com/ai-gateway, providers openai and azureopenai; November 2026).
 */
export const isCloudflareGateway = ({ base_url, type }: PoolChannel): boolean =>
  type.dialect === "openai-chat" && base_url.includes("gateway.ai.cloudflare.com");

export const ordinary: Provider = {
  url(channel, operation, model) {
    if (isCodingPlan(channel.base_url)) return planAddress(channel.base_url, channel.type.dialect, operation);
    const path = operationPath(channel.type, operation, model);
    if (path === undefined) return undefined;
    if (channel.type.complete_url) return fill(channel.base_url, channel, model);
    return (
      channel.base_url + fill(isCloudflareGateway(channel) ? path.replace(/^\/v1(?=\/)/, "") : path, channel, model)
    );
  },
  headers(channel) {
    const { key, headers: ofKey } = keyAndHeaders(channel);
    const headers: Record<string, string> = { ...channel.type.headers, ...ofKey };
    const auth = authHeader[channel.type.auth]?.(key);
    if (auth && key !== "") headers[auth[0]] = auth[1];
    if (channel.type.organization && channel.organization !== "") headers["openai-organization"] = channel.organization;
    return headers;
  },
};
