import { expect, test } from "bun:test";
import { reachable } from "./tcp-probe";

test("a host that listens is reachable, a closed port is not", async () => {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const url = `http://127.0.0.1:${listener.port}/v1`;
  expect(await reachable(url, 2_000)).toBe(true);
  listener.stop(true);
  expect(await reachable(url, 2_000)).toBe(false);
});
