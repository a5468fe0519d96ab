import { useLingui } from "@lingui/react/macro";
import { MessagesSquare, Plus, Settings2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useSearch } from "wouter";
import { EmptyState } from "../../components/empty-state";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useMedia } from "../../lib/media";
import { useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { toastError } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CodeBlock } from "../../ui/code-block";
import { Drawer } from "../../ui/drawer";
import { Skeleton } from "../../ui/skeleton";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { Composer } from "./composer";
import { ConversationMenu } from "./conversation-menu";
import type { SubmittedJob } from "./job-card";
import { SettingsPanel } from "./settings-panel";
import { snippetsOf } from "./snippets";
import { usableModels } from "./storage";
import { TurnView } from "./turn-view";
import { type Playground, usePlayground, useSettings } from "./use-playground";

const JobsTab = lazy(() => import("./jobs-tab"));

/**
 * Chat with the models that the user may call, on their own balance: settings, answers side by side, the same call as
 * code.
 */
export default function PlaygroundPage() {
  const { t } = useLingui();
  const user = useUser();
  const wide = useMedia("(min-width: 1024px)");
  const [settingsOpen, setSettingsOpen] = useState(false);
  const [text, setText] = useState("");
  const [tab, setTab] = useState("chat");
  const [jobs, setJobs] = useState<readonly SubmittedJob[]>([]);
  const userId = user?.id ?? 0;
  const { settings, setSettings, groups, usable } = useSettingsInForce(userId, user?.group ?? "");
  const playground = usePlayground(userId, settings);
  useExpiredNotice();

  const failed = groups.error ?? usable.error;
  const panel = (
    <SettingsPanel
      settings={settings}
      onChange={setSettings}
      groups={groups.data ?? {}}
      models={usable.data}
      job={tab === "jobs"}
    />
  );
  const actions = (
    <Actions
      playground={tab === "jobs" ? undefined : playground}
      {...(wide ? {} : { onSettings: () => setSettingsOpen(true) })}
    />
  );

  return (
    // As tall as the window leaves it above the footer, however tall that is; what is inside scrolls by itself.
    <div className="relative min-h-120 flex-1">
      <div className="absolute inset-0 flex flex-col">
        <Page title={t`操练场`} actions={actions}>
          {failed ? (
            <ErrorPanel error={failed} onRetry={() => void Promise.all([groups.refetch(), usable.refetch()])} />
          ) : (
            <div className="flex min-h-0 flex-1 gap-6">
              {wide ? (
                <aside aria-label={t`设置`} className="w-64 shrink-0 overflow-y-auto px-1 pb-2">
                  {panel}
                </aside>
              ) : (
                <Drawer open={settingsOpen} onOpenChange={setSettingsOpen} title={t`设置`}>
                  {panel}
                </Drawer>
              )}
              <Tabs value={tab} onValueChange={setTab} className="flex min-w-0 flex-1 flex-col">
                <TabsList aria-label={t`操练场`}>
                  <TabsTrigger value="chat">{t`对话`}</TabsTrigger>
                  <TabsTrigger value="code">{t`代码`}</TabsTrigger>
                  <TabsTrigger value="jobs">{t`任务`}</TabsTrigger>
                </TabsList>
                <TabsContent value="chat" className="flex min-h-0 flex-1 flex-col gap-3 data-[state=inactive]:hidden">
                  <Messages playground={playground} />
                  <Composer
                    text={text}
                    onText={setText}
                    busy={playground.busy}
                    loading={usable.data === undefined}
                    disabled={settings.models.length === 0}
                    onSend={playground.send}
                    onStop={playground.stop}
                  />
                </TabsContent>
                <TabsContent value="code" className="min-h-0 flex-1 overflow-y-auto">
                  <CodeView playground={playground} text={text} />
                </TabsContent>
                <TabsContent value="jobs" className="min-h-0 flex-1 overflow-y-auto px-1">
                  <WhileLoading show={<Skeleton className="h-40 max-w-180 rounded-lg" />}>
                    {usable.data === undefined ? (
                      <Skeleton className="h-40 max-w-180 rounded-lg" />
                    ) : (
                      <JobsTab
                        group={settings.group}
                        models={usable.data}
                        jobs={jobs}
                        onSubmitted={(job) => setJobs((before) => [job, ...before])}
                      />
                    )}
                  </WhileLoading>
                </TabsContent>
              </Tabs>
            </div>
          )}
        </Page>
      </div>
    </div>
  );
}

/** The settings as they can be used now: a group and models that are still there. */
function useSettingsInForce(userId: number, own: string) {
  const [chosen, setSettings] = useSettings(userId);
  const groups = trpc.group.own.useQuery(undefined, { meta: { quiet: true } });
  const group = groups.data && groupInForce(Object.keys(groups.data), chosen.group, own);
  const usable = trpc.group.models.useQuery({ group }, { enabled: group !== undefined, meta: { quiet: true } });
  const settings = { ...chosen, group: group ?? "", models: usableModels(chosen.models, usable.data ?? []) };
  return { settings, setSettings, groups, usable };
}

/** The chosen group while the user may use it, else their own, else any. */
function groupInForce(names: readonly string[], chosen: string, own: string): string | undefined {
  return [chosen, own].find((name) => names.includes(name)) ?? names[0];
}

/** Older pages send a user whose session has ended to `?expired`. */
function useExpiredNotice(): void {
  const { t } = useLingui();
  const expired = new URLSearchParams(useSearch()).has("expired");
  useEffect(() => {
    if (expired) toastError(t`未登录或登录已过期，请重新登录！`, { id: "signed-out" });
  }, [expired, t]);
}

/** The turns; stays at the end while answers grow, unless the reader has scrolled away. */
function Messages({ playground }: { playground: Playground }) {
  const { t } = useLingui();
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const { conversation, busy } = playground;
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [conversation]);
  const count = conversation.turns.length;
  useEffect(() => {
    atEnd.current = true;
  }, [count, conversation.id]);

  return (
    <>
      <div
        ref={box}
        role="region"
        aria-label={t`对话内容`}
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          atEnd.current = scrollHeight - scrollTop - clientHeight < 80;
        }}
        className="grid min-h-0 flex-1 content-start gap-6 overflow-y-auto -outline-offset-2"
      >
        {count === 0 ? (
          <EmptyState
            icon={MessagesSquare}
            title={t`和模型说点什么`}
            description={t`对话只保存在这个浏览器里，费用从你的余额扣除。`}
          />
        ) : (
          conversation.turns.map((turn) => <TurnView key={turn.id} turn={turn} playground={playground} />)
        )}
      </div>
      <p role="status" className="sr-only">
        {count === 0 ? "" : busy ? t`正在回答` : t`回答结束`}
      </p>
    </>
  );
}

/** The next call as code; what is written already is its last message. */
function CodeView({ playground, text }: { playground: Playground; text: string }) {
  const { t } = useLingui();
  const root = (useStatus().server_address || location.origin).replace(/\/+$/, "");
  const snippets = snippetsOf(playground.preview(text || t`你好`), root);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <p className="text-muted">{t`与下一次对话相同的请求。用令牌代替登录会话，令牌的分组决定价格。`}</p>
      <Tabs defaultValue="curl">
        <TabsList aria-label={t`语言`}>
          {snippets.map(({ id, name }) => (
            <TabsTrigger key={id} value={id}>
              {name}
            </TabsTrigger>
          ))}
        </TabsList>
        {snippets.map(({ id, name, code }) => (
          <TabsContent key={id} value={id}>
            <CodeBlock code={code} label={name} />
          </TabsContent>
        ))}
      </Tabs>
    </div>
  );
}

/** The buttons beside the title: of the conversation, where there is one, and of settings that are not in sight. */
function Actions({ playground, onSettings }: { playground: Playground | undefined; onSettings?: () => void }) {
  const { t } = useLingui();
  return (
    <>
      {playground ? (
        <>
          <ConversationMenu playground={playground} />
          <Button onClick={playground.start}>
            <Plus aria-hidden />
            {t`新对话`}
          </Button>
        </>
      ) : null}
      {onSettings ? (
        <Button onClick={onSettings}>
          <Settings2 aria-hidden />
          {t`设置`}
        </Button>
      ) : null}
    </>
  );
}
