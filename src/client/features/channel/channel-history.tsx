import { msg } from "@lingui/core/macro";
import type { MessageDescriptor } from "@lingui/core";
import { useLingui } from "@lingui/react/macro";
import { channelStatus } from "../../components/status";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { HistoryList } from "../audit/history-list";

/** The fields as the form calls them. */
const FIELDS: Readonly<Record<string, MessageDescriptor>> = {
  type: msg`类型`,
  name: msg`名称`,
  base_url: msg`接口地址`,
  key: msg`密钥`,
  multi_key_mode: msg`密钥模式`,
  models: msg`模型`,
  group: msg`分组`,
  tag: msg`标签`,
  priority: msg`优先级`,
  weight: msg`权重`,
  status: msg`状态`,
  model_mapping: msg`模型映射`,
  status_code_mapping: msg`状态码映射`,
  setting: msg`渠道额外设置`,
  param_override: msg`参数覆盖`,
  header_override: msg`请求头覆盖`,
  test_model: msg`测试模型`,
  auto_ban: msg`失败时自动禁用`,
  openai_organization: msg`组织`,
  max_input_tokens: msg`最大输入 tokens`,
};

/** Fields whose stored values are numbers that stand for words. */
const WORDS: Readonly<Record<string, (value: string) => MessageDescriptor>> = {
  status: (value) => (channelStatus[Number(value)] ?? channelStatus.other).text,
  auto_ban: (value) => (value === "0" ? msg`关闭` : msg`开启`),
};

/** What people changed of a channel. Restoring is an edit: keys and other secrets stay as they are. */
export function ChannelHistory({ id }: { id: number }) {
  const { t, i18n } = useLingui();
  const utils = trpc.useUtils();
  const query = trpc.channel.history.useInfiniteQuery(
    { id },
    { getNextPageParam: ({ next }) => next, meta: { quiet: true } },
  );
  const restoring = trpc.channel.restore.useMutation();
  const restore = async (entry: number): Promise<void> => {
    try {
      await restoring.mutateAsync({ id, entry });
      toastSuccess(t`渠道已恢复到修改之前，密钥没有变`);
    } catch {
      // The query client shows why it was refused.
    }
    void utils.channel.invalidate();
  };
  return (
    <HistoryList
      query={query}
      nameOf={(member) => (FIELDS[member] ? i18n._(FIELDS[member]) : member)}
      wordOf={(member, value) => (WORDS[member] ? i18n._(WORDS[member](value)) : value)}
      onRestore={({ id: entry }) => void restore(entry)}
      restoring={restoring.isPending ? restoring.variables.entry : undefined}
    />
  );
}
