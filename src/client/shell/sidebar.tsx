import { useLingui } from "@lingui/react/macro";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import { Link, useLocation, useSearch } from "wouter";
import { cn } from "../lib/cn";
import type { StoredUser } from "../lib/session";
import { useStatus } from "../lib/status";
import { readStored } from "../lib/storage";
import { type ConsolePage, menuPageAt, menuPages, navGroups, type NavItem } from "../paths";
import { routes } from "../routes";
import { IconButton } from "../ui/icon-button";
import { Tooltip } from "../ui/tooltip";
import { BalanceChip } from "./balance-chip";

const KEY = "sidebar-collapsed";

/** The user's own choice, else the operator's default. */
export function sidebarStartsCollapsed(): boolean {
  return (readStored(KEY) ?? readStored("default_collapse_sidebar")) === "true";
}

export { KEY as SIDEBAR_KEY };

type SidebarProps = {
  user: StoredUser;
  collapsed: boolean;
  /** Absent where it cannot be collapsed (the phone's menu). */
  onCollapse?: (collapsed: boolean) => void;
  /** After an item was chosen. */
  onNavigate?: () => void;
};

/** The side menu: what this user may open, in groups. */
export function Sidebar({ user, collapsed, onCollapse, onNavigate }: SidebarProps) {
  const { t, i18n } = useLingui();
  const [path] = useLocation();
  // The flags of the menu arrive with the status.
  useStatus();
  const current = menuPageAt(path, useSearch());
  const items = menuPages(user.role);

  return (
    <div className="flex h-full flex-col gap-2 p-2">
      <nav aria-label={t`主菜单`} className="min-h-0 flex-1 overflow-y-auto">
        {navGroups.map((group) => {
          const members = items.filter((page) => page.nav?.group === group.id);
          if (members.length === 0) return null;
          return (
            <div key={group.id} className="mb-3">
              {collapsed ? null : <h2 className="px-2.5 py-1 text-xs text-muted">{i18n._(group.title)}</h2>}
              <ul className="grid gap-0.5">
                {members.map((page) => (
                  <li key={page.path}>
                    <SidebarItem page={page} active={page === current} collapsed={collapsed} onNavigate={onNavigate} />
                    {collapsed ? null : (
                      <SubItems items={page.nav?.items?.() ?? []} path={path} onNavigate={onNavigate} />
                    )}
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <BalanceChip collapsed={collapsed} />
      {onCollapse ? (
        <IconButton
          label={collapsed ? t`展开侧边栏` : t`收起侧边栏`}
          aria-expanded={!collapsed}
          onClick={() => onCollapse(!collapsed)}
        >
          {collapsed ? <PanelLeftOpen /> : <PanelLeftClose />}
        </IconButton>
      ) : null}
    </div>
  );
}

/** The sub-items of an item: its paths by name. */
function SubItems({ items, path, onNavigate }: { items: readonly NavItem[]; path: string; onNavigate?: () => void }) {
  if (items.length === 0) return null;
  return (
    <ul className="mt-0.5 ml-4.5 grid gap-0.5 border-l border-line pl-2">
      {items.map(({ title, to }) => (
        <li key={to}>
          <Link
            href={to}
            aria-current={path === to ? "page" : undefined}
            onClick={onNavigate}
            className={cn(
              "flex h-7 items-center rounded-md px-2 text-ink-2 hover:bg-sunken hover:text-ink pointer-coarse:h-10",
              path === to && "font-medium text-accent-text",
            )}
          >
            <span className="truncate">{title}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function SidebarItem({
  page,
  active,
  collapsed,
  onNavigate,
}: {
  page: ConsolePage;
  active: boolean;
  collapsed: boolean;
  onNavigate?: () => void;
}) {
  const { i18n } = useLingui();
  const { page: Page, icon: Icon, badge: Badge } = routes[page.path];
  const title = i18n._(page.title);
  return (
    <Tooltip content={collapsed ? title : null} side="right">
      <Link
        href={page.nav?.to ?? page.path}
        aria-current={active ? "page" : undefined}
        onClick={onNavigate}
        onPointerEnter={Page.preload}
        onFocus={Page.preload}
        className={cn(
          "relative flex h-8 items-center gap-2.5 rounded-md px-2.5 text-ink-2 hover:bg-sunken hover:text-ink pointer-coarse:h-10",
          active && "bg-accent-soft font-medium text-accent-text hover:bg-accent-soft hover:text-accent-text",
          collapsed && "w-10 justify-center px-0",
        )}
      >
        {Icon ? <Icon aria-hidden className="size-4 shrink-0" /> : null}
        <span className={collapsed ? "sr-only" : "truncate"}>{title}</span>
        {Badge ? <Badge collapsed={collapsed} /> : null}
      </Link>
    </Tooltip>
  );
}
