import { useLingui } from "@lingui/react/macro";
import { Command } from "cmdk";
import { FileText, Keyboard, Languages, LogOut, Monitor, Moon, Search, Sun } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { languageNames, setLanguage } from "../lib/i18n";
import { useOfferedActions } from "../lib/palette-actions";
import { useUser } from "../lib/session";
import { setTheme } from "../lib/theme";
import { consolePages, isOnTopBar, menuPages } from "../paths";
import { routes } from "../routes";
import { layerRoot } from "../ui/layers";
import { useFound } from "./use-found";
import { useSignOut } from "./sign-out";

/** The command palette; a chunk of its own, fetched when first used. */
export default function Palette({
  open,
  onOpenChange,
  onShortcuts,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onShortcuts: () => void;
}) {
  const { t, i18n } = useLingui();
  const user = useUser();
  const [, navigate] = useLocation();
  const signOut = useSignOut();
  const offered = useOfferedActions();
  const [words, setWords] = useState("");
  const { groups, searching } = useFound(open ? words : "");
  const menu = menuPages(user?.role ?? 0);
  const pages = [...menu, ...consolePages.filter((page) => isOnTopBar(page) && !menu.includes(page))];

  const item = (id: string, icon: ReactNode, title: ReactNode, run: () => void, keywords: string[] = []) => (
    <Command.Item
      key={id}
      value={id}
      keywords={[...(typeof title === "string" ? [title] : []), ...keywords]}
      onSelect={() => {
        onOpenChange(false);
        setWords("");
        run();
      }}
      className="menu-item text-ink! data-[selected=true]:bg-accent-soft [&_svg]:size-4 [&_svg]:text-muted"
    >
      {icon}
      {title}
    </Command.Item>
  );
  const heading =
    "[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted";

  return (
    <Command.Dialog
      open={open}
      onOpenChange={onOpenChange}
      label={t`搜索页面与操作`}
      container={layerRoot()}
      overlayClassName="fixed inset-0 z-50 bg-overlay"
      contentClassName="floating fixed top-[12vh] left-1/2 w-[min(560px,calc(100vw-32px))] -translate-x-1/2 overflow-hidden rounded-xl"
    >
      <Command.Input
        placeholder={t`搜索用户、渠道、令牌、模型、请求 ID、设置和页面`}
        value={words}
        onValueChange={setWords}
        className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none"
      />
      <Command.List label={t`结果`} className="max-h-[50vh] overflow-y-auto p-2">
        <Command.Empty className="px-2 py-6 text-center text-muted">
          {searching ? t`正在搜索…` : t`没有匹配的结果`}
        </Command.Empty>
        {groups.map(({ heading: title, items }) => (
          <Command.Group key={title} heading={title} className={heading}>
            {items.map((found) =>
              // They fit as the server sees it: what was typed is a keyword of each.
              item(
                found.id,
                <Search aria-hidden />,
                <>
                  <span className="truncate">{found.title}</span>
                  {found.note ? (
                    <span className="ml-auto shrink-0 truncate pl-3 text-xs text-muted">{found.note}</span>
                  ) : null}
                </>,
                () => navigate(found.to),
                [words, found.title],
              ),
            )}
          </Command.Group>
        ))}
        <Command.Group heading={t`页面`} className={heading}>
          {pages.map((page) => {
            const Icon = routes[page.path].icon;
            return item(
              `page ${page.path}`,
              Icon ? <Icon aria-hidden /> : <FileText aria-hidden />,
              i18n._(page.title),
              () => navigate(page.nav?.to ?? page.path),
              [page.path],
            );
          })}
        </Command.Group>
        <Command.Group heading={t`操作`} className={heading}>
          {offered.map((action) =>
            item(action.id, action.icon ? <action.icon aria-hidden /> : null, action.title, action.run),
          )}
          {item("theme light", <Sun aria-hidden />, t`日间模式`, () => setTheme("light"), ["theme", "light"])}
          {item("theme dark", <Moon aria-hidden />, t`夜间模式`, () => setTheme("dark"), ["theme", "dark"])}
          {item("theme system", <Monitor aria-hidden />, t`跟随系统`, () => setTheme("system"), ["theme", "system"])}
          {i18n.locale === "en"
            ? item("language zh", <Languages aria-hidden />, languageNames.zh, () => void setLanguage("zh"), [
                "language",
              ])
            : item("language en", <Languages aria-hidden />, languageNames.en, () => void setLanguage("en"), [
                "language",
              ])}
          {item("shortcuts", <Keyboard aria-hidden />, t`快捷键`, onShortcuts)}
          {user ? item("sign out", <LogOut aria-hidden />, t`退出登录`, () => void signOut(), ["logout"]) : null}
        </Command.Group>
      </Command.List>
    </Command.Dialog>
  );
}
