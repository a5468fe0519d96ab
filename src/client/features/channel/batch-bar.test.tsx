import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { ChannelView } from "../../../shared/channel";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { Toasts } = await import("../../components/toasts");
const { default: BatchBar } = await import("./batch-bar");
afterEach(closePage);

const channel = (id: number, type: number) => ({ id, name: `c${id}`, type, models: "m" }) as ChannelView;
/** Types of the specification: OpenAI, which is tested by a call, and Suno, which is not. */
const OPENAI = 1;
const SUNO = 36;

const open = (
  channels: readonly ChannelView[],
  ask: (input: unknown) => unknown,
  more: Record<string, (input: unknown) => unknown> = {},
) =>
  openPage(
    <>
      <BatchBar channels={channels} onClear={() => {}} onTag={() => {}} onEdit={() => {}} onLeave={() => {}} />
      <Toasts />
    </>,
    "/channel",
    { procedures: { "channel.test": ask, ...more } },
  );

test("the selected channels are tested, each once; types without a test are skipped, and the end reports the counts", async () => {
  const asked: unknown[] = [];
  const page = await open(
    [channel(1, OPENAI), channel(2, SUNO), channel(3, OPENAI), channel(4, OPENAI), channel(5, OPENAI)],
    (input) => {
      asked.push((input as { id: number }).id);
      return asked.length === 2
        ? { success: false, message: "HTTP 401", time: 0.1 }
        : { success: true, message: "", time: 0.2 };
    },
  );
  await page.user.click(screen.getByRole("button", { name: "测试" }));
  await screen.findByText("渠道测试完成：成功 3 个，失败 1 个，跳过 1 个");
  expect(asked.toSorted()).toEqual([1, 3, 4, 5]);
});

test("after a test those that answered and are disabled are enabled by one button: as an import needs", async () => {
  const enabled: unknown[] = [];
  const disabled = (id: number) => ({ ...channel(id, OPENAI), status: 2 });
  const page = await open(
    [disabled(1), disabled(2), { ...channel(3, OPENAI), status: 1 }, disabled(4)],
    (input) => ({ success: (input as { id: number }).id !== 2, message: "", time: 0.2 }),
    { "channel.batchStatus": (input) => void enabled.push(input) },
  );
  expect(screen.queryByRole("button", { name: /有应答/ })).toBeNull();
  await page.user.click(screen.getByRole("button", { name: "测试" }));
  await page.user.click(await screen.findByRole("button", { name: "启用有应答的 2 个" }));
  await screen.findByText("已启用 2 个渠道");
  expect(enabled).toEqual([{ ids: [1, 4], status: 1 }]);
});

test("with nothing selected a test says what is missing and calls nothing", async () => {
  const page = await open([], () => undefined);
  await page.user.click(screen.getByRole("button", { name: "测试" }));
  await screen.findByText("请先选择通道！");
  expect(page.calls).toEqual([]);
});
