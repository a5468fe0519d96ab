/** IP addresses and networks: lists of a token, and which addresses belong to the public internet. */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = readonly [Address, number];

/** `::ffff:1.2.3.4` is 1.2.3.4: a dual-stack socket reports IPv4 callers so. undefined for what is no address. */
function parseAddress(text: string): Address | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text) : undefined;
}

/** Compiles a stored list (one address or CIDR per line). Lines that are neither match nothing. */
export function compileNetworks(list: string): Network[] {
  const networks: Network[] = [];
  for (const line of list.split("\n")) {
    const text = line.trim();
    if (text.includes("/") && ipaddr.isValidCIDR(text)) networks.push(unmapped(ipaddr.parseCIDR(text)));
    else if (text && !text.includes("/")) {
      const address = parseAddress(text);
      if (address) networks.push([address, address.kind() === "ipv4" ? 32 : 128]);
    }
  }
  return networks;
}

/** ::ffff:10.0.0.0/104 is 10.0.0.0/8. */
function unmapped([address, bits]: [Address, number]): Network {
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96)
    return [address.toIPv4Address(), bits - 96];
  return [address, bits];
}

export function inNetworks(networks: readonly Network[], ip: string): boolean {
  if (networks.length === 0) return false; // parsing costs a microsecond
  const address = parseAddress(ip);
  return address !== undefined && networks.some((network) => matches(address, network));
}

function matches(address: Address, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

// 2000::/3 is all that is assigned; 3fff::/20 is for documentation.
const GLOBAL_UNICAST: Network = [ipaddr.IPv6.parse("2000::"), 3];
const DOCUMENTATION: Network = [ipaddr.IPv6.parse("3fff::"), 20];

/**
 * Whether an address is on the public internet: no loopback, private, link-local, shared (100.64/10), multicast,
 * documentation or reserved range, and none of the IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(ip: string): boolean {
  if (!ipaddr.isValid(ip)) return false;
  // Not process(): a mapped address is refused as such.
  const address = ipaddr.parse(ip);
  if (address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || (matches(address, GLOBAL_UNICAST) && !matches(address, DOCUMENTATION));
}

/** Where clouds answer their own machines outside the link-local ranges: Alibaba Cloud, Oracle Cloud, AWS over IPv6. */
const METADATA: readonly string[] = ["100.100.100.200", "192.0.0.192", "fd00:ec2::254"];
const OWN_NETWORK: readonly string[] = ["loopback", "private", "uniqueLocal", "carrierGradeNat"];

/**
 * Whether a machine of one's own may be there: a public address, this machine, a private network or 100.64/10 (as of
 * Tailscale). Never link-local, where clouds answer with the machine's own credentials, nor any form that carries an
 * IPv4 address.
 */
export function isReachableByOwner(ip: string): boolean {
  if (isPublicAddress(ip)) return true;
  if (!ipaddr.isValid(ip)) return false;
  const address = ipaddr.parse(ip);
  return (
    OWN_NETWORK.includes(address.range()) &&
    !METADATA.some((one) => matches(address, [ipaddr.parse(one), address.kind() === "ipv4" ? 32 : 128]))
  );
}
