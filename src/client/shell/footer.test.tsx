import "../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, spyOn, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { act } = await import("@testing-library/react");
const { loadStatus } = await import("../lib/status");
const { Footer } = await import("./footer");

setDefaultTimeout(30_000);
afterEach(closePage);

test("the operator's words and the version come with the status, without a reload, and nothing asks for them again", async () => {
  let asked = 0;
  const status = { footer_html: "Operated by **ACME**", system_name: "Gate", version: "v1.2.3" };
  const { container } = await openPage(<Footer />, "/", {
    paths: {
      "/api/status": () => {
        asked++;
        return Response.json({ success: true, message: "", data: status });
      },
    },
  });
  expect(container.textContent).toBe("");
  const timers = [spyOn(globalThis, "setInterval"), spyOn(globalThis, "setTimeout")];
  await act(() => loadStatus());
  const delays = timers.flatMap((timer) => timer.mock.calls.map(([, delay]) => delay ?? 0));
  for (const timer of timers) timer.mockRestore();
  // spec: C-657
  expect(delays.filter((delay) => delay >= 200)).toEqual([]);
  // spec: C-656, C-657
  await waitFor(() => expect(container.textContent).toContain("Operated by ACME"));
  expect(asked).toBe(1);
  // spec: C-660, C-661
  expect(screen.getByText("Gate v1.2.3")).toBeDefined();
  expect(container.textContent).toBe("Operated by ACMEGate v1.2.3");
});
