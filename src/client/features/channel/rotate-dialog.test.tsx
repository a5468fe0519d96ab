/** Rotating a key from the channel, and testing a form before it is saved. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { ChannelView } from "../../../shared/channel";

const { closePage, openPage, Refusal, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { RotateButton } = await import("./rotate-dialog");
const { DraftTest } = await import("./draft-test");
const { useChannelForm } = await import("./use-channel-form");
const { Toasts } = await import("../../components/toasts");
const { storeUser } = await import("../../lib/session");

setDefaultTimeout(30_000);
afterEach(closePage);
beforeEach(() => storeUser({ id: 1, username: "root", role: 100, status: 1, group: "default", display_name: "" }));

const channel: ChannelView = {
  id: 7,
  type: 1,
  name: "one",
  key: "",
  base_url: "https://up.example",
  other: "",
  models: "gpt-4o",
  group: "default",
  model_mapping: "",
  status_code_mapping: "",
  setting: "",
  param_override: "",
  header_override: "",
  test_model: "",
  auto_ban: 1,
  tag: "",
  priority: 0,
  weight: 0,
  openai_organization: "",
  multi_key_mode: "",
  balance_currency: "",
  max_input_tokens: 0,
  status: 1,
  response_time: 0,
  used_quota: 0,
  balance: 0,
  balance_updated_time: 0,
  test_time: 0,
  created_time: 1,
  other_info: "",
  draining_since: 0,
  drain_deadline: 0,
};

test("a key is rotated by the button, the new key and one more press; a failed test keeps what was typed", async () => {
  let refused = true;
  const { user, calls } = await openPage(
    <>
      <RotateButton channel={channel} />
      <Toasts />
    </>,
    "/channel",
    {
      procedures: {
        "channel.rotateKey": () => {
          if (refused) throw new Refusal("channel_key_test_failed");
          return { tested: true, retires_at: 1_795_000_000 };
        },
      },
    },
  );
  await user.click(screen.getByRole("button", { name: "轮换密钥" }));
  const submit = await screen.findByRole<HTMLButtonElement>("button", { name: "测试并轮换" });
  expect(submit.disabled).toBe(true);
  const key = screen.getByLabelText<HTMLTextAreaElement>(/^新密钥/);
  await user.type(key, " sk-new ");
  await user.click(submit);
  await waitFor(() => expect(calls.filter(({ path }) => path === "channel.rotateKey")).toHaveLength(1));
  expect(key.value).toBe(" sk-new ");
  refused = false;
  await waitFor(() => expect(submit.disabled).toBe(false));
  await user.click(submit);
  await screen.findByText(/旧密钥用到/);
  expect(calls.findLast(({ path }) => path === "channel.rotateKey")?.input).toEqual({
    id: 7,
    key: "sk-new",
    overlap_minutes: 10,
  });
  expect(screen.queryByRole("button", { name: "测试并轮换" })).toBeNull();
});

test("of several keys the one that serves first is replaced unless another is chosen", async () => {
  const item = (id: number, status: number) => ({
    id,
    position: id,
    hint: `…000${id}`,
    status,
    reason: "",
    retires_at: 0,
    status_time: 0,
    created_at: 1,
  });
  const { user, calls } = await openPage(
    <RotateButton channel={{ ...channel, multi_key_mode: "random" }} />,
    "/channel",
    {
      procedures: {
        "channel.keys": () => [item(1, 2), item(2, 1), item(3, 1)],
        "channel.rotateKey": () => ({ tested: true, retires_at: 0 }),
      },
    },
  );
  await user.click(screen.getByRole("button", { name: "轮换密钥" }));
  await screen.findAllByText("#2 …0002");
  await user.type(screen.getByLabelText(/^新密钥/), "sk-new");
  await user.clear(screen.getByLabelText(/^重叠时间/));
  await user.type(screen.getByLabelText(/^重叠时间/), "0");
  await user.click(screen.getByRole("button", { name: "测试并轮换" }));
  await waitFor(() =>
    expect(calls.find(({ path }) => path === "channel.rotateKey")?.input).toEqual({
      id: 7,
      key: "sk-new",
      overlap_minutes: 0,
      key_id: 2,
    }),
  );
});

function Form({ stored }: { stored: boolean }) {
  const state = useChannelForm({ channel: stored ? channel : undefined, onSaved: () => {} });
  return (
    <>
      <input aria-label="base" {...state.form.register("base_url")} />
      <button onClick={() => state.form.setValue("type", 1)}>type</button>
      <DraftTest state={state} />
    </>
  );
}

test("a form's test sends what differs from the stored channel, shows the result beside the button, and saves nothing", async () => {
  const { user, calls } = await openPage(<Form stored />, "/channel", {
    procedures: { "channel.testDraft": () => ({ success: false, message: "no such host", time: 0.1 }) },
  });
  const base = screen.getByLabelText("base");
  await user.clear(base);
  await user.type(base, "https://other.example");
  await user.click(screen.getByRole("button", { name: "测试" }));
  await screen.findByText("no such host");
  expect(calls).toEqual([{ path: "channel.testDraft", input: { id: 7, base_url: "https://other.example" } }]);
  closePage();
  const page = await openPage(<Form stored={false} />, "/channel", {
    procedures: { "channel.testDraft": () => ({ success: true, message: "", time: 0.25 }) },
  });
  await page.user.click(screen.getByRole("button", { name: "type" }));
  await page.user.click(screen.getByRole("button", { name: "测试" }));
  await screen.findByText(/测试成功，耗时 0.25 秒/);
  expect(page.calls[0]?.input).toMatchObject({ type: 1, key: "" });
});
