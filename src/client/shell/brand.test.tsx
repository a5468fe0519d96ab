import "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { loadStatus } = await import("../lib/status");
const { Brand } = await import("./brand");
const { Footer } = await import("./footer");

afterEach(closePage);

test("the operator's name and logo are in the top bar, the operator's footer is at the bottom", async () => {
  const status = {
    system_name: "Harbour",
    logo: "https://gw.example/logo.png",
    footer_html: "Operated by <b>ACME</b>",
    version: "1.2.3",
  };
  const { container } = await openPage(
    <>
      <Brand />
      <Footer />
    </>,
    "/token",
    { paths: { "/api/status": () => Response.json({ success: true, message: "", data: status }) } },
  );
  await loadStatus();
  // spec
  expect(await screen.findByRole("link", { name: "Harbour" })).toBeDefined();
  // spec: A-223
  expect(container.querySelector("a img")?.getAttribute("src")).toBe(status.logo);
  // spec
  expect((await screen.findByText("ACME")).closest("footer")?.textContent).toContain("Operated by ACME");
});
