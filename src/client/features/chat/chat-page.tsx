import { useLingui } from "@lingui/react/macro";
import { ExternalLink, MessageCircle } from "lucide-react";
import { useEffect } from "react";
import { useParams } from "wouter";
import { chatLinkKind } from "../../../shared/chat-links";
import { EmptyState } from "../../components/empty-state";
import { storedChats } from "../../lib/chats";
import { useStatus } from "../../lib/status";
import { toastError } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import { ChatProblem } from "./chat-problem";
import { useChatLink } from "./chat-token";

/**
 * The configured chat link number `id`, the first one without an id, with the user's first enabled token (C-037,
 * C-047).
 */
export default function ChatPage() {
  const { t } = useLingui();
  // The chats arrive with the status.
  useStatus();
  const { id = "0" } = useParams();
  const chats = storedChats();
  const chat = /^\d{1,4}$/.test(id) ? chats?.[Number(id)] : undefined;
  const problem =
    chats === null
      ? t`聊天数据解析失败`
      : chats.length === 0 && id === "0"
        ? t`请联系管理员配置聊天链接`
        : !chat?.template
          ? t`聊天链接配置错误，请联系管理员`
          : null;
  const template = problem === null ? (chat?.template ?? null) : null;
  const href = useChatLink(template);
  const kind = href === undefined ? undefined : chatLinkKind(href);

  useEffect(() => {
    if (problem !== null) toastError(problem);
  }, [problem]);
  useEffect(() => {
    if (href !== undefined && kind === "program") location.assign(href);
  }, [href, kind]);

  const name = chat?.name || t`聊天`;
  if (problem !== null) {
    return (
      <>
        <h1 className="sr-only">{t`聊天`}</h1>
        <ChatProblem problem={problem} />
      </>
    );
  }
  return (
    <div className="flex h-[calc(100dvh-48px)] flex-col">
      <h1 className="sr-only">{name}</h1>
      {href === undefined ? <Skeleton className="m-4 flex-1" /> : null}
      {href !== undefined && kind === "page" ? <ChatFrame href={href} title={name} /> : null}
      {href !== undefined && kind === "program" ? (
        <EmptyState
          icon={MessageCircle}
          title={t`正在打开 ${name}`}
          description={t`没有反应？请确认已经安装这个应用，然后再试一次。`}
          action={
            <Button variant="primary" onClick={() => location.assign(href)}>
              <ExternalLink aria-hidden />
              {t`打开 ${name}`}
            </Button>
          }
        />
      ) : null}
    </div>
  );
}

/**
 * A third party's page: it may run scripts in its own origin and open windows, but not navigate the console.
 */
function ChatFrame({ href, title }: { href: string; title: string }) {
  // A page of our own origin would get out of the sandbox with both permissions.
  const foreign = new URL(href).origin !== location.origin;
  return (
    <iframe
      src={href}
      title={title}
      sandbox={`allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads allow-modals${foreign ? " allow-same-origin" : ""}`}
      allow="clipboard-write; microphone; camera"
      referrerPolicy="no-referrer"
      className="min-h-0 w-full flex-1 border-0 bg-surface"
    />
  );
}
