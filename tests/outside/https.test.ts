/** Browsers that came over HTTPS, as a trusted proxy says, are told to come by HTTPS again. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWeir, type Weir } from "../kit/weir";

let proxied: Weir;
let direct: Weir;
beforeAll(async () => {
  [proxied, direct] = await Promise.all([startWeir({ env: { WEIR_TRUSTED_PROXIES: "127.0.0.1" } }), startWeir()]);
}, 30_000);
afterAll(async () => {
  await Promise.all([proxied?.stop(), direct?.stop()]);
});

const PATHS = [
  "/",
  "/console",
  "/none.js",
  "/healthz",
  "/api/status",
  "/api/none",
  "/trpc/status.get",
  "/v1/models",
  "/v1/none",
];
const hsts = async (weir: Weir, path: string, headers: Record<string, string>): Promise<string | null> => {
  const answer = await fetch(weir.url + path, { headers });
  await answer.body?.cancel();
  return answer.headers.get("strict-transport-security");
};

test.each(PATHS)("%s over HTTPS has Strict-Transport-Security for a year, for this name alone", async (path) => {
  expect(await hsts(proxied, path, { "x-forwarded-proto": "https" })).toBe("max-age=31536000");
  expect(await hsts(proxied, path, { "x-forwarded-proto": "https, http", "x-forwarded-for": "192.0.2.7" })).toBe(
    "max-age=31536000",
  );
});

test.each(PATHS)(
  "%s over plain http never has it, and neither has it where the sender is no trusted proxy",
  async (path) => {
    expect(await hsts(proxied, path, {})).toBeNull();
    expect(await hsts(proxied, path, { "x-forwarded-proto": "http" })).toBeNull();
    expect(await hsts(direct, path, { "x-forwarded-proto": "https" })).toBeNull();
  },
);
