/** A refund from a call's bill: whole by three presses, a part by its amount, and undone from the toast. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { LogView } from "../../../shared/log-list";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { LogInspector } = await import("./log-inspector");
const { storeUser } = await import("../../lib/session");
const { Toasts } = await import("../../components/toasts");

setDefaultTimeout(30_000);
afterEach(closePage);
beforeEach(() => storeUser({ id: 1, username: "root", role: 100, status: 1, group: "default", display_name: "" }));

const charge: LogView = {
  id: 7,
  request_id: "r7",
  created_at: 1_790_000_000,
  type: 2,
  user_id: 5,
  username: "ann",
  token_id: 3,
  token_name: "t",
  channel: 7,
  channel_name: "c",
  group: "default",
  model_name: "m",
  quota: 1000,
  prompt_tokens: 1,
  completion_tokens: 2,
  use_time: 1,
  is_stream: false,
  content: "",
  code: "",
  params: "",
  refund_of: "",
  repeated: 0,
  repeated_until: 0,
  other: "",
  end_reason: "complete",
  ip: "",
  upstream_request_id: "",
};
const page = (row = charge) => (
  <>
    <LogInspector id="7" known={row} admin onClose={() => {}} onStep={() => {}} />
    <Toasts />
  </>
);
const server = (
  left = 1000,
  refund: (input: never) => unknown = () => ({ refund_id: "r7/refund/a", quota: left, left: 0 }),
) => ({
  procedures: {
    "log.get": () => charge,
    "log.refunds": () => ({ left, items: [] }),
    "log.refund": refund,
    "log.undoRefund": () => ({ quota: left }),
  },
});

test("the whole charge goes back by two presses from the bill, and the toast undoes it", async () => {
  const { user, calls } = await openPage(page(), "/log?open=7", server());
  await user.click(await screen.findByRole("button", { name: "退款" }));
  await user.click(await screen.findByRole("button", { name: "全额退款" }));
  await user.click(await screen.findByRole("button", { name: "撤销" }));
  await screen.findByText("退款已撤销");
  const sent = calls.filter(({ path }) => path === "log.refund" || path === "log.undoRefund");
  expect(sent).toEqual([
    { path: "log.refund", input: { request_id: "r7", reason: "" } },
    { path: "log.undoRefund", input: { request_id: "r7/refund/a" } },
  ]);
});

test("a part is its amount and reason; more than is left cannot be sent, and a refusal keeps what was typed", async () => {
  const refuse = () => {
    throw new Refusal("refund_undone");
  };
  const { user, calls } = await openPage(page(), "/log?open=7", server(600, refuse));
  await user.click(await screen.findByRole("button", { name: "退款" }));
  const amount = await screen.findByRole("spinbutton");
  await user.clear(amount);
  await user.type(amount, "1");
  const submit = () => {
    const button = document.querySelector<HTMLButtonElement>("button[type=submit]");
    if (!button) throw new Error("no button");
    return button;
  };
  await waitFor(() => expect(submit().disabled).toBe(true));
  await user.clear(amount);
  await user.type(amount, "0.0004");
  await user.type(screen.getByLabelText("原因"), "wrong model");
  await user.click(submit());
  await waitFor(() =>
    expect(calls.find(({ path }) => path === "log.refund")?.input).toEqual({
      request_id: "r7",
      quota: 200,
      reason: "wrong model",
    }),
  );
  expect(screen.getByLabelText<HTMLInputElement>("原因").value).toBe("wrong model");
});

test("an operator's own call offers no refund, and one that was given back in full shows when and why", async () => {
  const own = { ...charge, user_id: 1 };
  await openPage(page(own), "/log?open=7", {
    procedures: { "log.get": () => own, "log.refunds": () => ({ left: 1000, items: [] }) },
  });
  await screen.findByText("没有明细的收费");
  expect(screen.queryByRole("button", { name: "退款" })).toBeNull();
  closePage();
  const given = { ...charge, id: 8, type: 6, code: "call_refunded", params: '{"note":"said so"}' };
  await openPage(page(), "/log?open=7", {
    procedures: { "log.get": () => charge, "log.refunds": () => ({ left: 0, items: [given] }) },
  });
  await screen.findByText("退还额度 · said so");
  expect(screen.queryByRole("button", { name: "退款" })).toBeNull();
});
