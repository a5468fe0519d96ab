/** The end of a process as a load balancer sees it: first /readyz fails, then the listener closes. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
beforeAll(async () => {
  weir = await startWeir({ child: true, env: { WEIR_DRAIN_SECONDS: "2" } });
}, HOOK_MS);
afterAll(() => weir?.stop());

test("after SIGTERM /readyz is 503 and calls are still served for WEIR_DRAIN_SECONDS, then the process ends with code 0", async () => {
  expect((await fetch(`${weir.url}/readyz`)).status).toBe(200);
  weir.process?.kill("SIGTERM");
  await Bun.sleep(300);
  const ready = await fetch(`${weir.url}/readyz`);
  expect([ready.status, ((await ready.json()) as { checks: { state: string } }).checks.state]).toEqual([
    503,
    "draining",
  ]);
  expect((await fetch(`${weir.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${weir.url}/api/status`)).status).toBe(200);
  expect(await weir.process?.exited).toBe(0);
  expect(
    await fetch(`${weir.url}/healthz`).then(
      () => "answered",
      () => "refused",
    ),
  ).toBe("refused");
}, 30_000);
