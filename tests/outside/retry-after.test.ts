/** What an upstream asks callers to wait is passed on within bounds: never negative, at most an hour. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWeir, type Weir } from "../kit/weir";

const HOUR = 3600;
/** The upstream's header, and the seconds that a caller reads. */
const asked: readonly [header: string, told: string | null][] = [
  ["7", "7"],
  ["2.5", "3"],
  ["99999999999", String(HOUR)],
  ["1e99", null],
  ["-5", null],
  ["-2050", null],
  ["2050", "2050"],
  ["2050-01-01", null],
  ["soon", null],
  ["Fri, 31 Dec 2100 23:59:59 GMT", String(HOUR)],
  ["Thu, 01 Jan 1970 00:00:00 GMT", null],
];

let weir: Weir;
let key = "";
const upstream = Bun.serve({
  port: 0,
  fetch: (request) => {
    const [header] = asked[Number(new URL(request.url).pathname.split("/")[1])] ?? [""];
    return Response.json(
      { error: { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" } },
      { status: 429, headers: { "retry-after": header } },
    );
  },
});
beforeAll(async () => {
  weir = await startWeir();
  for (const index of asked.keys())
    await weir.newChannel({ base_url: `${upstream.url.origin}/${index}`, models: [`m${index}`] });
  await weir.priceModels(Object.fromEntries([...asked.keys()].map((index) => [`m${index}`, 1])));
  ({ key } = await weir.newToken());
}, 60_000);
afterAll(async () => {
  await weir.stop();
  await upstream.stop(true);
});

for (const [index, [header, told]] of asked.entries()) {
  test(`an upstream's "retry-after: ${header}" is ${told ?? "left out"}`, async () => {
    const answer = await weir.call(key, { model: `m${index}`, messages: [{ role: "user", content: "hello" }] });
    await answer.text();
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, told]);
  });
}
