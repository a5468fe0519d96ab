/**
 * Every page of the console, once. The router, the menus, the command palette, the `G then X` keys and the guards are
 * derived from this list, so an item that is shown leads to a page that exists.
 *
 * To add a page: write `features/<noun>/<noun>-page.tsx` with the page as default export and add an entry here, for
 * example
 *
 *   {
 *     path: "/channel",
 *     also: ["/channel/add", "/channel/edit/:id"],
 *     title: msg`渠道`,
 *     access: "admin",
 *     nav: { group: "admin", icon: Waypoints },
 *     goKey: "c",
 *     page: lazy(() => import("./features/channel/channel-page")),
 *   },
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  ChartColumn,
  History,
  KeyRound,
  ListTodo,
  type LucideIcon,
  MessageCircle,
  MessagesSquare,
  Palette,
  ScrollText,
  Settings,
  Tags,
  Ticket,
  UserCog,
  Users,
  Wallet,
  Waypoints,
} from "lucide-react";
import type { ComponentType } from "react";
import { AutoDisabledBadge } from "./features/channel/auto-disabled-badge";
import { chatMenuItems } from "./lib/chats";
import type { Access } from "./lib/guard";
import { mayOpen } from "./lib/guard";
import { lazy, type Lazy } from "./lib/lazy";
import { flagIsOn, type StatusFlag } from "./lib/status";

export type NavGroup = "use" | "account" | "admin" | "root";

export const navGroups: readonly { id: NavGroup; title: MessageDescriptor }[] = [
  { id: "use", title: msg`使用` },
  { id: "account", title: msg`账户` },
  { id: "admin", title: msg`管理` },
  { id: "root", title: msg`系统` },
];

/** An entry below an item of the side menu. */
export interface NavItem {
  title: string;
  to: string;
}

export interface ConsoleRoute {
  /** The page's address, where its menu item leads; `:name` stands for one part, `:name?` for one or none. */
  path: string;
  /** Further addresses of the same page; going between them does not load it anew. */
  also?: readonly string[];
  title: MessageDescriptor;
  access: Access;
  /**
   * Where the side menu shows it; absent: nowhere. `to` when the item needs another address, `items` stand below it,
   * `badge` says what waits there.
   */
  nav?: {
    group: NavGroup;
    icon: LucideIcon;
    to?: string;
    items?: () => readonly NavItem[];
    /** Who sees it, where fewer do than may open the page. */
    access?: Access;
    badge?: ComponentType<{ collapsed: boolean }>;
  };
  /** Also a link of the top bar. */
  topBar?: boolean;
  /** Offered in the menu only when this flag of the public status is on. */
  flag?: StatusFlag;
  /** `G` and then this key opens the page. */
  goKey?: string;
  /** Fetched when it is opened, or earlier when its link is touched. */
  page: Lazy;
}

export const routes: readonly ConsoleRoute[] = [
  {
    path: "/",
    title: msg`首页`,
    access: "public",
    topBar: true,
    page: lazy(() => import("./features/home/home-page")),
  },
  {
    path: "/pricing",
    title: msg`定价`,
    access: "public",
    topBar: true,
    page: lazy(() => import("./features/pricing/pricing-page")),
  },
  {
    path: "/about",
    title: msg`关于`,
    access: "public",
    topBar: true,
    page: lazy(() => import("./features/about/about-page")),
  },
  {
    path: "/login",
    title: msg`登录`,
    access: "public",
    page: lazy(() => import("./features/auth/login-page")),
  },
  {
    path: "/register",
    title: msg`注册`,
    access: "public",
    page: lazy(() => import("./features/auth/register-page")),
  },
  {
    path: "/reset",
    title: msg`重置密码`,
    access: "public",
    page: lazy(() => import("./features/auth/reset-page")),
  },
  {
    path: "/user/reset",
    title: msg`密码重置确认`,
    access: "public",
    page: lazy(() => import("./features/auth/reset-confirm-page")),
  },
  {
    path: "/oauth/:provider",
    title: msg`第三方登录`,
    access: "public",
    page: lazy(() => import("./features/identity/oauth-page")),
  },
  {
    path: "/push",
    title: msg`手机推送`,
    access: "public",
    page: lazy(() => import("./features/push/push-page")),
  },
  {
    path: "/setup",
    title: msg`初始化`,
    access: "public",
    page: lazy(() => import("./features/setup/setup-page")),
  },
  {
    path: "/playground",
    title: msg`操练场`,
    access: "user",
    nav: { group: "use", icon: MessagesSquare },
    goKey: "p",
    page: lazy(() => import("./features/playground/playground-page")),
  },
  {
    path: "/chat/:id?",
    title: msg`聊天`,
    access: "user",
    nav: { group: "use", icon: MessageCircle, to: "/chat", items: chatMenuItems },
    page: lazy(() => import("./features/chat/chat-page")),
  },
  {
    path: "/chat2link",
    title: msg`聊天`,
    access: "user",
    page: lazy(() => import("./features/chat/chat-redirect-page")),
  },
  {
    path: "/token",
    title: msg`API 令牌`,
    access: "user",
    nav: { group: "use", icon: KeyRound },
    goKey: "t",
    page: lazy(() => import("./features/token/token-page")),
  },
  {
    path: "/log",
    title: msg`使用日志`,
    access: "user",
    nav: { group: "use", icon: ScrollText },
    goKey: "l",
    page: lazy(() => import("./features/log/log-page")),
  },
  {
    path: "/detail",
    title: msg`数据看板`,
    access: "user",
    nav: { group: "use", icon: ChartColumn },
    flag: "enable_data_export",
    goKey: "d",
    page: lazy(() => import("./features/dashboard/dashboard-page")),
  },
  {
    path: "/midjourney",
    title: msg`绘图`,
    access: "user",
    nav: { group: "use", icon: Palette },
    flag: "enable_drawing",
    goKey: "m",
    page: lazy(() => import("./features/midjourney/midjourney-page")),
  },
  {
    path: "/task",
    title: msg`异步任务`,
    access: "user",
    nav: { group: "use", icon: ListTodo },
    flag: "enable_task",
    goKey: "a",
    page: lazy(() => import("./features/task/task-page")),
  },
  {
    path: "/topup",
    title: msg`钱包`,
    access: "user",
    nav: { group: "account", icon: Wallet },
    goKey: "w",
    page: lazy(() => import("./features/wallet/topup-page")),
  },
  {
    path: "/personal",
    title: msg`个人设置`,
    access: "user",
    nav: { group: "account", icon: UserCog, to: "/setting?tab=personal" },
    goKey: "i",
    page: lazy(() => import("./features/personal/personal-redirect")),
  },
  {
    path: "/channel",
    also: ["/channel/add", "/channel/edit/:id"],
    title: msg`渠道`,
    access: "admin",
    nav: { group: "admin", icon: Waypoints, badge: AutoDisabledBadge },
    goKey: "c",
    page: lazy(() => import("./features/channel/channel-page")),
  },
  {
    path: "/user/edit",
    title: msg`编辑个人资料`,
    access: "user",
    page: lazy(() => import("./features/personal/profile-page")),
  },
  {
    path: "/user",
    also: ["/user/edit/:id"],
    title: msg`用户管理`,
    access: "admin",
    nav: { group: "admin", icon: Users },
    goKey: "u",
    page: lazy(() => import("./features/user/user-page")),
  },
  {
    path: "/setting",
    title: msg`系统设置`,
    access: "user",
    nav: { group: "root", icon: Settings, to: "/setting?tab=operation", access: "root" },
    goKey: "s",
    page: lazy(() => import("./features/setting/setting-page")),
  },
  {
    path: "/audit",
    title: msg`操作审计`,
    access: "root",
    nav: { group: "root", icon: History },
    page: lazy(() => import("./features/audit/audit-page")),
  },
  {
    path: "/redemption",
    title: msg`兑换码`,
    access: "admin",
    nav: { group: "admin", icon: Ticket },
    goKey: "r",
    page: lazy(() => import("./features/redemption/redemption-page")),
  },
  {
    path: "/setting/pricing",
    title: msg`模型价格`,
    access: "root",
    nav: { group: "root", icon: Tags },
    page: lazy(() => import("./features/price-editor/price-editor-page")),
  },
];

/**
 * Addresses of the specification that need a login. Those whose page is not built yet still lead a stranger to the
 * login page first (C-044).
 */
const PROTECTED =
  /^\/(channel|token|playground|redemption|topup|log|detail|midjourney|task|chat|chat2link|user|setting|personal|audit)(\/|$)/;

/** Administrators' pages, built or not: an ordinary user is told that he may not (C-046), not that nothing is there. */
const ADMINISTRATIVE = /^\/(redemption|user|user\/edit\/[^/]+)\/?$/;

/** Public although it begins like a protected one: the page that a password-reset mail leads to. */
const PUBLIC_EXCEPTIONS = ["/user/reset"];

/** The page at `path` and which of its addresses matched; null when there is none. */
export function findRoute(path: string): { route: ConsoleRoute; pattern: string } | null {
  for (const route of routes) {
    const pattern = [route.path, ...(route.also ?? [])].find((candidate) => matches(candidate, path));
    if (pattern !== undefined) return { route, pattern };
  }
  return null;
}

/**
 * The entry of the menu that an address belongs to: its page's, unless another one leads to exactly this address (a
 * tab).
 */
export function menuRouteAt(path: string, search: string): ConsoleRoute | undefined {
  return routes.find((route) => route.nav?.to === `${path}?${search}`) ?? findRoute(path)?.route;
}

/** What a visitor of `path` must be, also when no page is there. */
export function accessOf(path: string): Access {
  const found = findRoute(path);
  if (found) return found.route.access;
  if (!PROTECTED.test(path) || PUBLIC_EXCEPTIONS.includes(path)) return "public";
  return ADMINISTRATIVE.test(path) ? "admin" : "user";
}

/** The routes of the side menu that somebody with `role` sees, in the order of the list. */
export function menuRoutes(role: number): ConsoleRoute[] {
  return routes.filter(
    (route) => route.nav && mayOpen(route.nav.access ?? route.access, role) && (!route.flag || flagIsOn(route.flag)),
  );
}

/** Where "console" leads: the tokens, or whatever this user's menu begins with; null when his menu is empty. */
export function consoleHome(role: number): string | null {
  const menu = menuRoutes(role);
  return (menu.find((route) => route.path === "/token") ?? menu[0])?.path ?? null;
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (given.length > wanted.length) return false;
  return wanted.every((part, index) => {
    const actual = given[index];
    if (part.startsWith(":")) return actual !== undefined || part.endsWith("?");
    return part === actual;
  });
}
