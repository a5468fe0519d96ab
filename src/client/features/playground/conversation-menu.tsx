import { useLingui } from "@lingui/react/macro";
import { History, Trash2 } from "lucide-react";
import { formatRelative } from "../../lib/format";
import { Button } from "../../ui/button";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuRadioGroup,
  DropdownMenuRadioItem,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "../../ui/dropdown-menu";
import { titleOf } from "./conversation";
import type { Playground } from "./use-playground";

/** The conversations kept in this browser. */
export function ConversationMenu({ playground }: { playground: Playground }) {
  const { t } = useLingui();
  const { conversation, conversations } = playground;
  const kept = conversations.filter(({ turns }) => turns.length > 0);
  const now = Date.now() / 1000;
  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <Button>
          <History aria-hidden />
          {t`历史对话`}
        </Button>
      </DropdownMenuTrigger>
      <DropdownMenuContent className="max-w-[min(24rem,90vw)]">
        {kept.length === 0 ? <DropdownMenuItem disabled>{t`还没有对话`}</DropdownMenuItem> : null}
        <DropdownMenuRadioGroup value={conversation.id} onValueChange={playground.show}>
          {kept.map((item) => (
            <DropdownMenuRadioItem key={item.id} value={item.id}>
              <span className="min-w-0 flex-1 truncate">{titleOf(item) || t`图片`}</span>
              <span className="ml-3 text-xs text-muted">{formatRelative(item.updated / 1000, now)}</span>
            </DropdownMenuRadioItem>
          ))}
        </DropdownMenuRadioGroup>
        {conversation.turns.length > 0 ? (
          <>
            <DropdownMenuSeparator />
            <DropdownMenuItem danger icon={<Trash2 aria-hidden />} onSelect={() => playground.remove(conversation.id)}>
              {t`删除当前对话`}
            </DropdownMenuItem>
          </>
        ) : null}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
