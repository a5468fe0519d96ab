import { expect, test } from "bun:test";
import { newRequestId } from "./request-id";

test("a request id begins with the UTC time, whatever the server's time zone, and sorts by it", () => {
  const zone = process.env.TZ;
  process.env.TZ = "Asia/Shanghai";
  const before = Math.floor(Date.now() / 1000);
  const id = newRequestId();
  const after = Math.floor(Date.now() / 1000);
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  expect(id).toMatch(/^\d{23}\w{8}$/);
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(id) ?? [];
  const time = Date.UTC(Number(y), Number(mo) - 1, Number(d), Number(h), Number(mi), Number(s)) / 1000;
  expect(time).toBeGreaterThanOrEqual(before);
  expect(time).toBeLessThanOrEqual(after);
  const many = Array.from({ length: 1000 }, newRequestId);
  expect(new Set(many).size).toBe(1000);
  expect(many.toSorted()).toEqual(many);
});
