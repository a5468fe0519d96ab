import { useLingui } from "@lingui/react/macro";
import { MessageCircle } from "lucide-react";
import { useEffect } from "react";
import { chatLinkKind } from "../../../shared/chat-links";
import { EmptyState } from "../../components/empty-state";
import { storedChats } from "../../lib/chats";
import { useStatus, useStatusLoaded } from "../../lib/status";
import { readStored } from "../../lib/storage";
import { toastError } from "../../lib/toast";
import { ChatProblem } from "./chat-problem";
import { useChatLink } from "./chat-token";

/** Leads to the operator's chat link, or to the first of their chats, with the user's first enabled token (C-050). */
export default function ChatRedirectPage() {
  const { t } = useLingui();
  useStatus();
  const ready = useStatusLoaded();
  const own = readStored("chat_link") ?? "";
  const chats = storedChats();
  const template = (own !== "" ? own : chats?.[0]?.template) ?? null;
  const problem = !ready
    ? null
    : template !== null
      ? chatLinkKind(template) === undefined
        ? t`聊天链接配置错误，请联系管理员`
        : null
      : chats === null
        ? t`聊天数据解析失败`
        : chats.length > 0
          ? t`聊天链接配置错误，请联系管理员`
          : t`请联系管理员配置聊天链接`;
  const href = useChatLink(ready && problem === null ? template : null);

  useEffect(() => {
    if (problem !== null) toastError(problem);
  }, [problem]);
  useEffect(() => {
    if (href !== undefined) location.replace(href);
  }, [href]);

  return (
    <>
      <h1 className="sr-only">{t`聊天`}</h1>
      {problem === null ? (
        <EmptyState icon={MessageCircle} title={t`正在打开聊天…`} />
      ) : (
        <ChatProblem problem={problem} />
      )}
    </>
  );
}
