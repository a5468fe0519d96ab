/**
 * Every page of the console, once: its address, who may open it, where menus show it. The router, the menus, the
 * command palette, the `G then X` keys and the guards are derived from this list; what is shown there is in routes.tsx,
 * which pages cannot import.
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { chatMenuItems } from "./lib/chats";
import { type Access, mayOpen } from "./lib/guard";
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

interface PageFacts<Path extends string = string> {
  /** The page's address, where its menu item leads; `:name` stands for one part, `:name?` for one or none. */
  path: Path;
  /** Further addresses of the same page; going between them does not load it again. */
  also?: readonly string[];
  title: MessageDescriptor;
  access: Access;
  /**
   * Where the side menu shows it; absent: nowhere. `to` when the item needs another address, `items` stand below it.
   */
  nav?: {
    group: NavGroup;
    to?: string;
    items?: () => readonly NavItem[];
    /** Who sees it, where fewer do than may open the page. */
    access?: Access;
  };
  /** Also a link of the top bar; a flag of the public status: while that is on. */
  topBar?: true | StatusFlag;
  /** Offered in the menu only when this flag of the public status is on. */
  flag?: StatusFlag;
  /** `G` and then this key opens the page. */
  goKey?: string;
}

const list = [
  {
    path: "/",
    title: msg`首页`,
    access: "public",
    topBar: true,
  },
  {
    path: "/pricing",
    title: msg`定价`,
    access: "public",
    topBar: true,
  },
  {
    path: "/about",
    title: msg`关于`,
    access: "public",
    topBar: true,
  },
  {
    path: "/login",
    title: msg`登录`,
    access: "public",
  },
  {
    path: "/register",
    title: msg`注册`,
    access: "public",
  },
  {
    path: "/reset",
    title: msg`重置密码`,
    access: "public",
  },
  {
    path: "/user/reset",
    title: msg`密码重置确认`,
    access: "public",
  },
  {
    path: "/oauth/:provider",
    title: msg`第三方登录`,
    access: "public",
  },
  {
    path: "/push",
    title: msg`手机推送`,
    access: "public",
  },
  {
    path: "/setup",
    title: msg`初始化`,
    access: "public",
  },
  {
    path: "/playground",
    title: msg`操练场`,
    access: "user",
    nav: { group: "use" },
    goKey: "p",
  },
  {
    path: "/chat/:id?",
    title: msg`聊天`,
    access: "user",
    nav: { group: "use", to: "/chat", items: chatMenuItems },
  },
  {
    path: "/chat2link",
    title: msg`聊天`,
    access: "user",
  },
  {
    path: "/token",
    title: msg`API 令牌`,
    access: "user",
    nav: { group: "use" },
    goKey: "t",
  },
  {
    path: "/log",
    title: msg`使用日志`,
    access: "user",
    nav: { group: "use" },
    goKey: "l",
  },
  {
    path: "/detail",
    title: msg`数据看板`,
    access: "user",
    nav: { group: "use" },
    flag: "enable_data_export",
    goKey: "d",
  },
  {
    path: "/midjourney",
    title: msg`绘图`,
    access: "user",
    nav: { group: "use" },
    flag: "enable_drawing",
    goKey: "m",
  },
  {
    path: "/task",
    title: msg`异步任务`,
    access: "user",
    nav: { group: "use" },
    flag: "enable_task",
    goKey: "a",
  },
  {
    path: "/topup",
    title: msg`钱包`,
    access: "user",
    nav: { group: "account" },
    goKey: "w",
  },
  {
    path: "/personal",
    title: msg`个人设置`,
    access: "user",
    nav: { group: "account", to: "/setting?tab=personal" },
    goKey: "i",
  },
  {
    path: "/channel",
    also: ["/channel/add", "/channel/edit/:id"],
    title: msg`渠道`,
    access: "admin",
    nav: { group: "admin" },
    goKey: "c",
  },
  {
    path: "/incident",
    title: msg`告警`,
    access: "admin",
    nav: { group: "admin" },
  },
  {
    path: "/instance",
    title: msg`实例`,
    access: "admin",
    nav: { group: "admin" },
  },
  {
    path: "/user/edit",
    title: msg`编辑个人资料`,
    access: "user",
  },
  {
    path: "/user",
    also: ["/user/edit/:id"],
    title: msg`用户管理`,
    access: "admin",
    nav: { group: "admin" },
    goKey: "u",
  },
  {
    path: "/setting",
    title: msg`系统设置`,
    access: "user",
    nav: { group: "root", to: "/setting?tab=operation", access: "root" },
    goKey: "s",
  },
  {
    path: "/audit",
    title: msg`操作审计`,
    access: "root",
    nav: { group: "root" },
  },
  {
    path: "/redemption",
    title: msg`兑换码`,
    access: "admin",
    nav: { group: "admin" },
    goKey: "r",
  },
  {
    path: "/status",
    title: msg`模型状态`,
    access: "public",
    nav: { group: "admin", access: "admin" },
    topBar: "status_page_enabled",
  },
  {
    path: "/setting/pricing",
    title: msg`模型价格`,
    access: "root",
    nav: { group: "root" },
  },
] as const satisfies readonly PageFacts[];

export type PagePath = (typeof list)[number]["path"];
/** The pages that have an item in the side menu. */
export type MenuPath = Extract<(typeof list)[number], { nav: unknown }>["path"];
export type ConsolePage = PageFacts<PagePath>;

export const consolePages: readonly ConsolePage[] = list;

/** Whether the top bar links to a page now. */
export const isOnTopBar = ({ topBar }: ConsolePage): boolean =>
  topBar === true || (topBar !== undefined && flagIsOn(topBar));

/**
 * Addresses of the specification that need a login. Those whose page is not built yet still lead a stranger to the
 * login page first (C-044).
 */
const PROTECTED =
  /^\/(channel|token|playground|redemption|topup|log|detail|midjourney|task|chat|chat2link|user|setting|personal|audit)(\/|$)/;

/** Administrators' pages, built or not: an ordinary user gets "forbidden" (C-046), not "not found". */
const ADMINISTRATIVE = /^\/(redemption|user|user\/edit\/[^/]+)\/?$/;

/** Public although it begins like a protected one: the page that a password-reset mail leads to. */
const PUBLIC_EXCEPTIONS = ["/user/reset"];

/** The page at `path` and which of its addresses matched; null when there is none. */
export function findPage(path: string): { page: ConsolePage; pattern: string } | null {
  for (const page of consolePages) {
    const pattern = [page.path, ...(page.also ?? [])].find((candidate) => matches(candidate, path));
    if (pattern !== undefined) return { page, pattern };
  }
  return null;
}

/**
 * The entry of the menu that an address belongs to: its page's, unless another one leads to exactly this address (a
 * tab).
 */
export function menuPageAt(path: string, search: string): ConsolePage | undefined {
  return consolePages.find((page) => page.nav?.to === `${path}?${search}`) ?? findPage(path)?.page;
}

/** What a visitor of `path` must be, also when no page is there. */
export function accessOf(path: string): Access {
  const found = findPage(path);
  if (found) return found.page.access;
  if (!PROTECTED.test(path) || PUBLIC_EXCEPTIONS.includes(path)) return "public";
  return ADMINISTRATIVE.test(path) ? "admin" : "user";
}

/** The pages of the side menu that a user with `role` sees, in the order of the list. */
export function menuPages(role: number): ConsolePage[] {
  return consolePages.filter(
    (page) => page.nav && mayOpen(page.nav.access ?? page.access, role) && (!page.flag || flagIsOn(page.flag)),
  );
}

/** Where "console" leads: the tokens, or what this user's menu begins with; null when it is empty. */
export function consoleHome(role: number): string | null {
  const menu = menuPages(role);
  return (menu.find(({ path }) => path === "/token") ?? menu[0])?.path ?? null;
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
