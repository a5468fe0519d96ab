import { describe, expect, test } from "bun:test";
import { countedAddress, createAddressReader, normalAddress } from "./address";

const forwarded = (value: string, proto = "https") =>
  new Headers({ "x-forwarded-for": value, "x-forwarded-proto": proto });

describe("the caller's address", () => {
  test("forwarded headers of a peer that is no listed proxy are ignored", () => {
    const read = createAddressReader(["10.0.0.0/8"]);
    expect(read(forwarded("1.2.3.4"), "203.0.113.9")).toMatchObject({ ip: "203.0.113.9", secure: false });
    expect(createAddressReader([])(forwarded("1.2.3.4"), "127.0.0.1")).toMatchObject({
      ip: "127.0.0.1",
      secure: false,
    });
  });

  test("what such a peer forwards is a claim: the last address that it names, and the first such peer is reported", () => {
    const reported: string[] = [];
    const read = createAddressReader(["10.0.0.1"], (peer) => reported.push(peer));
    const claimed = (headers: Record<string, string>, peer = "10.0.0.2") => read(new Headers(headers), peer).claimed;
    expect(claimed({})).toBeUndefined();
    expect(claimed({ "x-forwarded-for": "1.2.3.4" }, "10.0.0.1")).toBeUndefined();
    expect(reported).toEqual([]);
    expect(claimed({ "x-forwarded-for": "6.6.6.6, 1.2.3.4" })).toBe("1.2.3.4");
    expect(claimed({ "x-real-ip": "1.2.3.5" }, "10.0.0.3")).toBe("1.2.3.5");
    expect(claimed({ forwarded: 'for=6.6.6.6, for="[2001:db8::1]:80";proto=https;by=10.0.0.2' })).toBe("2001:db8::1");
    for (const value of ["", "unknown", "for=_hidden", ","]) expect(claimed({ forwarded: value })).toBeUndefined();
    expect(reported).toEqual(["10.0.0.2"]);
  });

  test("behind a listed proxy the right-most address that is no proxy counts, so a spoofed left part does not", () => {
    const read = createAddressReader(["10.0.0.0/8", "127.0.0.1"]);
    expect(read(forwarded("6.6.6.6, 198.51.100.7, 10.1.1.1"), "127.0.0.1")).toEqual({
      ip: "198.51.100.7",
      secure: true,
    });
    expect(read(forwarded("not an address"), "10.0.0.1").ip).toBe("10.0.0.1");
    expect(read(forwarded("198.51.100.8", "http"), "10.0.0.1")).toEqual({ ip: "198.51.100.8", secure: false });
  });

  test("IPv4 inside IPv6, brackets and ports name the same address", () => {
    expect(normalAddress("::ffff:192.0.2.1")).toBe("192.0.2.1");
    expect(normalAddress("[2001:db8::1]:443")).toBe("2001:db8::1");
    expect(normalAddress("192.0.2.1:8080")).toBe("192.0.2.1");
    expect(normalAddress("localhost")).toBeUndefined();
  });

  test("limits by address count an IPv4 address, and a whole /64 of IPv6 as one", () => {
    expect(["203.0.113.9", "::ffff:203.0.113.9"].map(countedAddress)).toEqual(["203.0.113.9", "203.0.113.9"]);
    expect(["2001:db8:1:2::1", "2001:db8:1:2:ffff::9"].map(countedAddress)).toEqual([
      "2001:db8:1:2::/64",
      "2001:db8:1:2::/64",
    ]);
    expect(countedAddress("2001:db8:1:3::1")).not.toBe(countedAddress("2001:db8:1:2::1"));
  });

  test("the Host that a listed proxy forwards counts; that of any other peer is ignored", () => {
    const headers = new Headers({ "x-forwarded-for": "1.2.3.4", "x-forwarded-host": "weir.example, inner" });
    expect(createAddressReader(["10.0.0.0/8"])(headers, "10.0.0.1").host).toBe("weir.example");
    expect(createAddressReader(["10.0.0.0/8"])(headers, "203.0.113.9").host).toBeUndefined();
  });
});
