import { useLingui } from "@lingui/react/macro";
import { Keyboard, LogOut, Settings, UserRound } from "lucide-react";
import { navigate } from "wouter/use-browser-location";
import { StatusBadge } from "../components/status-badge";
import { roleLooks } from "../components/status";
import type { StoredUser } from "../lib/session";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "../ui/dropdown-menu";
import { Button } from "../ui/button";
import { useSignOut } from "./sign-out";

/** The signed-in user, and sign-out. */
export function UserMenu({ user, onShortcuts }: { user: StoredUser; onShortcuts: () => void }) {
  const { t } = useLingui();
  const signOut = useSignOut();
  return (
    <DropdownMenu>
      {/* Its name says what is seen of it (WCAG 2.5.3). */}
      <DropdownMenuTrigger asChild>
        <Button
          variant="ghost"
          className="max-w-40 px-2"
          aria-label={t`用户菜单：${user.display_name || user.username}`}
        >
          <span
            aria-hidden
            className="flex size-6 shrink-0 items-center justify-center rounded-xl bg-accent-soft text-xs font-semibold text-accent-text uppercase"
          >
            {[...(user.display_name || user.username)][0] ?? <UserRound />}
          </span>
          <span className="truncate max-sm:hidden">{user.display_name || user.username}</span>
        </Button>
      </DropdownMenuTrigger>
      <DropdownMenuContent className="w-56">
        <DropdownMenuLabel>
          <span className="flex items-center justify-between gap-2">
            <span className="truncate text-sm text-ink">{user.username}</span>
            <StatusBadge table={roleLooks} value={user.role} />
          </span>
        </DropdownMenuLabel>
        <DropdownMenuSeparator />
        <DropdownMenuItem
          icon={<Settings />}
          onSelect={() => navigate("/setting?tab=personal")}
        >{t`个人设置`}</DropdownMenuItem>
        <DropdownMenuItem icon={<Keyboard />} shortcut="?" onSelect={onShortcuts}>{t`快捷键`}</DropdownMenuItem>
        <DropdownMenuSeparator />
        <DropdownMenuItem icon={<LogOut />} onSelect={() => void signOut()}>{t`退出登录`}</DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
