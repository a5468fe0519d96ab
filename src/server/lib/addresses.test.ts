import { describe, expect, test } from "bun:test";
import { compileNetworks, inNetworks, isPublicAddress, isReachableByOwner } from "./addresses";

describe("address lists", () => {
  const list = compileNetworks("10.0.0.0/8\n203.0.113.7\n2001:db8:1::/48\n::1");

  test("match single addresses and networks of both families", () => {
    for (const ip of ["10.1.2.3", "203.0.113.7", "2001:db8:1::42", "::1"]) expect(inNetworks(list, ip)).toBe(true);
    for (const ip of ["11.0.0.1", "203.0.113.8", "2001:db8:2::1", "::2", "", "nonsense"]) {
      expect(inNetworks(list, ip)).toBe(false);
    }
  });

  test("treat an IPv4-mapped IPv6 address as the IPv4 address, on both sides", () => {
    expect(inNetworks(list, "::ffff:10.9.9.9")).toBe(true);
    expect(inNetworks(compileNetworks("::ffff:192.0.2.0/120"), "192.0.2.77")).toBe(true);
    expect(inNetworks(compileNetworks("::ffff:192.0.2.1"), "192.0.2.1")).toBe(true);
  });
});

describe("public addresses", () => {
  const refused = [
    "127.0.0.1",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fec0::1",
    "fc00::1",
    "fd00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "not an address",
  ];
  for (const ip of refused) test(`${ip} is not public`, () => expect(isPublicAddress(ip)).toBe(false));
  test("the owner's own machines are this one, private networks and 100.64/10, never link-local or a cloud's metadata", () => {
    const own = ["127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "::1", "fc00::1", "fd00::1"];
    expect(refused.filter(isReachableByOwner)).toEqual(own);
    expect(["100.100.100.200", "192.0.0.192", "fd00:ec2::254"].filter(isReachableByOwner)).toEqual([]);
    expect(isReachableByOwner("8.8.8.8")).toBe(true);
  });
  for (const ip of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::1"]) {
    test(`${ip} is public`, () => expect(isPublicAddress(ip)).toBe(true));
  }
});
