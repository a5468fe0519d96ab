import { useLingui } from "@lingui/react/macro";
import { MessageCircle } from "lucide-react";
import { chatLinkKind } from "../../../shared/chat-links";
import type { TokenView } from "../../../shared/token";
import type { GridAction } from "../../components/data-grid/types";
import { chatLinkFor, storedChats } from "../../lib/chats";
import { toastError } from "../../lib/toast";
import { useTokenKey } from "./token-actions";

/** The row's menu of the configured chat links, each opening with this token (C-113, C-114). */
export function useChatAction(): (row: TokenView) => GridAction {
  const { t } = useLingui();
  const { keyOf } = useTokenKey();

  const open = async (template: string, id: number): Promise<void> => {
    const page = chatLinkKind(template) === "page";
    // Opened while the press still counts: after the answer a browser would block it.
    const tab = page ? window.open("", "_blank") : null;
    if (tab) tab.opener = null;
    const key = await keyOf(id);
    if (key === null) return tab?.close();
    const href = chatLinkFor(template, key);
    if (tab) tab.location.replace(href);
    else location.assign(href);
  };

  return (row) => {
    const action = { id: "chat", label: t`聊天`, icon: MessageCircle };
    const chats = storedChats();
    if (chats === null) return { ...action, onSelect: () => toastError(t`聊天数据解析失败`) };
    if (chats.length === 0) return { ...action, onSelect: () => toastError(t`请联系管理员配置聊天链接`) };
    return {
      ...action,
      onSelect: () => undefined,
      items: chats.map(({ name, template }, index) => ({
        id: `chat-${index}`,
        label: name,
        onSelect: () => {
          if (template === null) toastError(t`聊天链接配置错误，请联系管理员`);
          else void open(template, row.id);
        },
      })),
    };
  };
}
