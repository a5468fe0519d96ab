/** What the palette offers besides found objects: pages and actions whose names hold the typed words. */
import { useLingui } from "@lingui/react/macro";
import { FileText, Keyboard, Languages, LogOut, type LucideIcon, Monitor, Moon, Sun } from "lucide-react";
import { useLocation } from "wouter";
import { languageNames, setLanguage } from "../lib/i18n";
import { type PaletteAction, useOfferedActions } from "../lib/palette-actions";
import { useUser } from "../lib/session";
import { setTheme } from "../lib/theme";
import { consolePages, isOnTopBar, menuPages } from "../paths";
import { routes } from "../routes";
import type { Act } from "./found-acts";
import { useSignOut } from "./sign-out";

/** One line of the palette. */
export interface PaletteItem {
  id: string;
  icon?: LucideIcon | undefined;
  title: string;
  /** Beside the title, muted. */
  note?: string | undefined;
  run: () => void;
  /** What else can be done with it. */
  acts?: readonly Act[] | undefined;
}

/** True when each of the words is part of one of the texts. */
export const fits = (words: string, texts: readonly string[]): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => texts.some((text) => text.toLowerCase().includes(word)));

const THEME = "theme appearance mode display colour color skin 切换主题 更换主题 外观 模式 显示 颜色 皮肤";
/** What people type to find an action, in both languages, whichever they read. */
const WORDS = {
  light: `${THEME} light day bright white 日间模式 白天 浅色模式 亮色模式 明亮 白色`,
  dark: `${THEME} dark night black 夜间模式 夜晚 深色模式 暗色模式 暗黑模式 黑色`,
  system: `${THEME} system auto automatic os default follow 跟随系统 自动 默认`,
  language: "language locale translate translation switch english chinese 切换语言 更改语言 翻译 中文 汉语 英文 英语",
  shortcuts: "shortcuts keyboard keys hotkeys bindings help 快捷键 键盘 按键 热键 帮助",
  signOut: "sign out signout log out logout log off logoff exit quit leave 退出 登出 注销 离开",
};

/** Pages and actions that fit the words, in the order of the menus. */
export function usePaletteItems(words: string, onShortcuts: () => void) {
  const { t, i18n } = useLingui();
  const user = useUser();
  const [, navigate] = useLocation();
  const signOut = useSignOut();
  const offered = useOfferedActions();

  const menu = menuPages(user?.role ?? 0);
  const pages = [...menu, ...consolePages.filter((page) => isOnTopBar(page) && !menu.includes(page))]
    .filter((page) => fits(words, [i18n._(page.title), page.path]))
    .map((page): PaletteItem => ({
      id: `page ${page.path}`,
      icon: routes[page.path].icon ?? FileText,
      title: i18n._(page.title),
      run: () => navigate(page.nav?.to ?? page.path),
    }));

  const other = i18n.locale === "en" ? "zh" : "en";
  const own: PaletteAction[] = [
    { id: "theme light", words: WORDS.light, icon: Sun, title: t`日间模式`, run: () => setTheme("light") },
    { id: "theme dark", words: WORDS.dark, icon: Moon, title: t`夜间模式`, run: () => setTheme("dark") },
    { id: "theme system", words: WORDS.system, icon: Monitor, title: t`跟随系统`, run: () => setTheme("system") },
    {
      id: "language",
      words: WORDS.language,
      icon: Languages,
      title: languageNames[other],
      run: () => void setLanguage(other),
    },
    { id: "shortcuts", words: WORDS.shortcuts, icon: Keyboard, title: t`快捷键`, run: onShortcuts },
  ];
  if (user)
    own.push({
      id: "sign out",
      words: WORDS.signOut,
      icon: LogOut,
      title: t`退出登录`,
      run: () => void signOut(),
    });
  const actions = [...offered.map((action) => ({ ...action, id: `action ${action.id}` })), ...own]
    .filter(({ id, title, words: also = "" }) => fits(words, [id, title, also]))
    .map(({ id, icon, title, run }): PaletteItem => ({ id, icon, title, run }));
  return { pages, actions };
}
