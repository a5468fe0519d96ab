import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { ChannelChanges } = await import("./channel-changes");
afterEach(closePage);

const row = (id: number, code: string, params: object = {}, content = "") => ({
  id,
  created_at: 1_795_000_000 + id,
  type: 4,
  code,
  params: JSON.stringify(params),
  content,
  other: "",
});
/** As a release before schema 4 wrote it. */
const oldRow = (id: number, other: object) => ({ ...row(id, "", {}, "as written"), other: JSON.stringify(other) });
const values = { status: 401, detail: "bad key" };
const reason = { code: "channel_call_refused", params: values };

test("each change says what happened, why and when; rows of other kinds keep their own text, and older ones load on demand", async () => {
  const pages = [
    {
      items: [row(3, "channel_auto_enabled"), row(2, "channel_auto_disabled", { reason })],
      next: "2.2",
    },
    {
      items: [
        row(1, "of_a_later_release", {}, "something else"),
        row(0, "channel_key_auto_disabled", { reason: "broken" }),
        oldRow(-1, { event: "channel_auto_disabled", reason: { code: "channel_call_refused", values } }),
      ],
      next: null,
    },
  ];
  const page = await openPage(<ChannelChanges id={7} watched={false} />, "/channel", {
    procedures: { "log.list": (input) => pages[(input as { cursor?: string }).cursor ? 1 : 0] },
  });
  await screen.findByText("自动启用");
  const rows = () =>
    [...screen.getByRole("list", { name: "变更" }).querySelectorAll("li")].map(({ textContent }) => textContent ?? "");
  expect(rows()[1]).toContain("自动禁用");
  expect(rows()[1]).toContain("bad key");
  expect(page.calls[0]).toMatchObject({ path: "log.list", input: { channel: 7, type: 4 } });
  expect(screen.queryByRole("status")).toBeNull();
  await page.user.click(screen.getByRole("button", { name: "更多" }));
  await screen.findByText("something else");
  expect(rows()).toHaveLength(5);
  expect(rows()[3]).toContain("密钥自动禁用");
  expect(rows()[4]).toContain("bad key");
});

test("a channel without status changes says so, and so does one that is being watched after it was enabled again", async () => {
  await openPage(<ChannelChanges id={7} watched />, "/channel", {
    procedures: { "log.list": () => ({ items: [], next: null }) },
  });
  await screen.findByText("没有自动变更");
  expect(screen.getByRole("status").textContent).toContain("正在观察");
});
