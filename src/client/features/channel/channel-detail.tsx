import { useLingui } from "@lingui/react/macro";
import { ChevronsRight, Eye, Hourglass, Pencil, Play, Power, ScrollText, Zap } from "lucide-react";
import { useRef, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { CHANNEL_STATUS, splitList, type ChannelView } from "../../../shared/channel";
import { baseUrlOf, channelType } from "../../../shared/channel-types";
import { TimeAgo } from "../../components/time-ago";
import { UsageDoubtText } from "../../components/usage-doubts";
import { formatTime } from "../../lib/format";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import { IconButton } from "../../ui/icon-button";
import { Switch } from "../../ui/switch";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { useChannelActions } from "./channel-actions";
import { ChannelChanges } from "./channel-changes";
import { ChannelHistory } from "./channel-history";
import { ChannelErrors } from "./channel-errors-section";
import { ChannelStatusCell, disabledNote, doubtOf, UsedAndRemaining } from "./channel-columns";
import { useChannelTest, useRunTest, useRunTests } from "./channel-tests";
import { TypeLogo, typeName } from "./channel-type-look";
import { pairsOf } from "./mapping-editor";
import { ChannelResponseTime, TestBadge } from "./test-badge";
import { HealthDay } from "./health-day";
import { RotateButton } from "./rotate-dialog";
import { TestButton } from "./test-button";

/** A channel to read: its state and figures, and its models, each with a test. */
export default function ChannelDetail({
  channel,
  onEdit,
  onClose,
}: {
  channel: ChannelView;
  onEdit: () => void;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const actions = useChannelActions();
  const count = splitList(channel.models).length;
  const name = channel.name;
  const [tab, setTab] = useState("overview");
  /** The channel that was enabled again to see whether it holds. */
  const [watched, setWatched] = useState<number>();

  return (
    <Drawer
      open
      modal={false}
      pageKeys
      onOpenChange={(next) => !next && onClose()}
      title={
        <span className="flex min-w-0 items-center gap-2">
          <TypeLogo type={channel.type} className="size-5" />
          <span className="truncate">{name}</span>
        </span>
      }
      headerExtra={
        <>
          <Switch
            aria-label={t`启用渠道 ${name}`}
            checked={channel.status === CHANNEL_STATUS.enabled}
            onCheckedChange={(on) => void actions.setEnabled(channel, on)}
          />
          <TestButton channel={channel} />
          <IconButton
            label={channel.draining_since > 0 ? t`结束排空` : t`排空`}
            size="sm"
            variant="secondary"
            disabled={channel.status !== CHANNEL_STATUS.enabled}
            onClick={() => void actions.setDrained(channel, channel.draining_since === 0)}
          >
            {channel.draining_since > 0 ? <Play /> : <Hourglass />}
          </IconButton>
          <RotateButton channel={channel} />
          <IconButton label={t`编辑`} size="sm" variant="secondary" onClick={onEdit}>
            <Pencil />
          </IconButton>
        </>
      }
    >
      <Tabs value={tab} onValueChange={setTab}>
        <TabsList aria-label={t`渠道详情`}>
          <TabsTrigger value="overview">{t`概览`}</TabsTrigger>
          <TabsTrigger value="models">{t`模型 ${count}`}</TabsTrigger>
          <TabsTrigger value="changes">{t`变更`}</TabsTrigger>
        </TabsList>
        <TabsContent value="overview" tabIndex={-1}>
          <Overview
            channel={channel}
            onWatch={() => {
              setWatched(channel.id);
              setTab("changes");
            }}
          />
        </TabsContent>
        <TabsContent value="changes" tabIndex={-1}>
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
            <section aria-label={t`自动变更`} className="grid grid-cols-[minmax(0,1fr)] gap-2">
              <h3 className="font-medium">{t`自动变更`}</h3>
              <ChannelChanges key={channel.id} id={channel.id} watched={watched === channel.id} />
            </section>
            <section aria-label={t`修改历史`} className="grid grid-cols-[minmax(0,1fr)] gap-2">
              <h3 className="font-medium">{t`修改历史`}</h3>
              <ChannelHistory key={channel.id} id={channel.id} />
            </section>
          </div>
        </TabsContent>
        <TabsContent value="models" tabIndex={-1}>
          <Models key={channel.id} channel={channel} />
        </TabsContent>
      </Tabs>
    </Drawer>
  );
}

function Overview({ channel, onWatch }: { channel: ChannelView; onWatch: () => void }) {
  const { t } = useLingui();
  return (
    <div className="grid gap-4">
      <Warnings channel={channel} onWatch={onWatch} />
      <dl className="grid grid-cols-2 gap-x-4 gap-y-3 rounded-lg border border-line bg-surface p-3 sm:grid-cols-4">
        <Fact label={t`状态`}>
          <ChannelStatusCell channel={{ ...channel, other_info: "" }} />
        </Fact>
        <Fact label={t`响应时间`}>
          <ChannelResponseTime id={channel.id} stored={channel.response_time} />
        </Fact>
        <Fact label={t`上次测试`}>
          <TimeAgo value={channel.test_time} />
        </Fact>
        <Fact label={t`已用 / 剩余`}>
          <UsedAndRemaining channel={channel} />
        </Fact>
      </dl>
      <HealthDay id={channel.id} />
      <ChannelErrors key={channel.id} id={channel.id} />
      <Settings channel={channel} />
      <Button asChild className="justify-self-start">
        <Link href={`/log?channel=${channel.id}`}>
          <ScrollText aria-hidden />
          {t`查看此渠道的日志`}
        </Link>
      </Button>
    </div>
  );
}

/** Why it does not serve, and whether its usage is doubted. */
function Warnings({ channel, onWatch }: { channel: ChannelView; onWatch: () => void }) {
  const { t } = useLingui();
  const note = disabledNote(channel);
  const doubt = doubtOf(channel);
  const actions = useChannelActions();
  return (
    <>
      {note ? (
        <div className="grid gap-1 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
          <p className="font-medium">{t`为什么被禁用`}</p>
          <p className="wrap-anywhere">{note.reason}</p>
          {note.time ? <p className="text-xs">{formatTime(note.time)}</p> : null}
          <span className="mt-1 flex flex-wrap gap-2">
            <Button size="sm" onClick={() => void actions.setEnabled(channel, true)}>
              <Power aria-hidden />
              {t`重新启用`}
            </Button>
            <Button
              size="sm"
              onClick={() => void actions.setEnabled(channel, true).then((enabled) => enabled && onWatch())}
            >
              <Eye aria-hidden />
              {t`重新启用并观察`}
            </Button>
          </span>
        </div>
      ) : null}
      {doubt ? (
        <div className="grid gap-1 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg" data-testid="usage-doubt">
          <p className="font-medium">{t`上游的用量不可信`}</p>
          <p className="wrap-anywhere">
            <UsageDoubtText doubt={doubt} />
          </p>
          <p className="text-xs wrap-anywhere">{`${formatTime(doubt.time)} · ${doubt.model} · ${doubt.request_id}`}</p>
        </div>
      ) : null}
    </>
  );
}

function Settings({ channel }: { channel: ChannelView }) {
  const { t, i18n } = useLingui();
  const address = baseUrlOf(channel.type, channel.base_url);
  const other = channelType(channel.type)?.other?.label[i18n.locale === "en" ? "en" : "zh"];
  return (
    <dl className="grid gap-2">
      <Line label="ID">{channel.id}</Line>
      <Line label={t`类型`}>{typeName(channel.type)}</Line>
      <Line label={t`接口地址`}>
        {address ? (
          <span className="flex items-center gap-1">
            <code className="font-mono text-xs wrap-anywhere">{address}</code>
            <CopyButton text={address} />
          </span>
        ) : (
          "—"
        )}
      </Line>
      {channel.multi_key_mode ? (
        <Line label={t`密钥模式`}>
          {channel.multi_key_mode === "polling" ? t`一个渠道多个密钥，轮流使用` : t`一个渠道多个密钥，随机使用`}
        </Line>
      ) : null}
      {other && channel.other ? (
        <Line label={other}>
          <code className="font-mono text-xs wrap-anywhere">{channel.other}</code>
        </Line>
      ) : null}
      <Line label={t`分组`}>
        <span className="flex flex-wrap gap-1">
          {splitList(channel.group).map((group) => (
            <Badge key={group}>{group}</Badge>
          ))}
        </span>
      </Line>
      {channel.tag ? (
        <Line label={t`标签`}>
          <Badge hue="violet">{channel.tag}</Badge>
        </Line>
      ) : null}
      <Line label={t`优先级`}>{channel.priority}</Line>
      <Line label={t`权重`}>{channel.weight}</Line>
      <Line label={t`失败时自动禁用`}>{channel.auto_ban === 0 ? t`关闭` : t`开启`}</Line>
      {channel.test_model ? (
        <Line label={t`测试模型`}>
          <code className="font-mono text-xs">{channel.test_model}</code>
        </Line>
      ) : null}
      <Line label={t`余额更新时间`}>
        <TimeAgo value={channel.balance_updated_time} />
      </Line>
      <Line label={t`创建时间`}>
        <TimeAgo value={channel.created_time} />
      </Line>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-1">
      <dt className="text-xs text-muted">{label}</dt>
      <dd className="min-w-0 truncate">{children}</dd>
    </div>
  );
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="grid min-h-6 grid-cols-[112px_minmax(0,1fr)] items-center gap-2">
      <dt className="text-ink-2">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Models({ channel }: { channel: ChannelView }) {
  const { t } = useLingui();
  const runTests = useRunTests();
  const models = splitList(channel.models);
  const [testing, setTesting] = useState(false);
  const stopped = useRef(false);
  const mapped = new Map(pairsOf(channel.model_mapping) ?? []);
  const testable = channelType(channel.type)?.test ?? false;

  const testAll = async () => {
    stopped.current = false;
    setTesting(true);
    await runTests(
      models.map((model) => ({ channel, model })),
      () => stopped.current,
    );
    setTesting(false);
  };

  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 text-ink-2">
          {testable ? t`每次测试都会向上游发送一个很短的真实请求。` : t`该类型渠道不支持测试`}
        </p>
        {testing ? (
          <Button size="sm" onClick={() => (stopped.current = true)}>{t`停止`}</Button>
        ) : (
          <Button size="sm" disabled={!testable || models.length === 0} onClick={() => void testAll()}>
            <ChevronsRight aria-hidden />
            {t`测试全部模型`}
          </Button>
        )}
        <CopyButton text={models.join(",")} label={t`复制模型列表`} />
      </div>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
        {models.map((model) => (
          <ModelRow key={model} channel={channel} model={model} mapped={mapped.get(model)} testable={testable} />
        ))}
      </ul>
    </div>
  );
}

function ModelRow({
  channel,
  model,
  mapped,
  testable,
}: {
  channel: ChannelView;
  model: string;
  mapped: string | undefined;
  testable: boolean;
}) {
  const { t } = useLingui();
  const runTest = useRunTest();
  const test = useChannelTest(channel.id, model);
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-2 px-3 py-1">
      <span className="min-w-0 flex-1">
        <span className="font-mono text-xs wrap-anywhere">{model}</span>
        {mapped ? <span className="block font-mono text-xs text-muted wrap-anywhere">→ {mapped}</span> : null}
      </span>
      {test ? <TestBadge test={test} /> : null}
      {testable ? (
        <IconButton
          label={t`测试 ${model}`}
          size="sm"
          disabled={test?.kind === "running"}
          onClick={() => void runTest(channel, model, { silent: true })}
        >
          <Zap />
        </IconButton>
      ) : null}
      {test?.kind === "done" && !test.success ? (
        <p className="w-full pb-1 text-xs text-red-fg wrap-anywhere">{test.message}</p>
      ) : null}
    </li>
  );
}
