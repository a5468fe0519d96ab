/**
 * What each page of paths.ts is: its component, fetched when it is opened, or earlier when its link is touched, and
 * what the side menu shows of it. Only the shell imports this file: a page that did would import itself.
 */
import {
  BellRing,
  Activity,
  ChartColumn,
  History,
  KeyRound,
  ListTodo,
  type LucideIcon,
  MessageCircle,
  MessagesSquare,
  Palette,
  ScrollText,
  Server,
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
import { lazy, type Lazy } from "./lib/lazy";
import type { MenuPath, PagePath } from "./paths";

interface Route {
  page: Lazy;
  icon?: LucideIcon;
  /** Says in the menu what waits there. */
  badge?: ComponentType<{ collapsed: boolean }>;
}

type MenuRoute = Route & { icon: LucideIcon };

/** The compiler demands every page, and an icon for those of the menu. */
export const routes: { readonly [Path in PagePath]: Path extends MenuPath ? MenuRoute : Route } = {
  "/": { page: lazy(() => import("./features/home/home-page")) },
  "/pricing": { page: lazy(() => import("./features/pricing/pricing-page")) },
  "/status": { page: lazy(() => import("./features/status/status-page")), icon: Activity },
  "/about": { page: lazy(() => import("./features/about/about-page")) },
  "/login": { page: lazy(() => import("./features/auth/login-page")) },
  "/register": { page: lazy(() => import("./features/auth/register-page")) },
  "/reset": { page: lazy(() => import("./features/auth/reset-page")) },
  "/user/reset": { page: lazy(() => import("./features/auth/reset-confirm-page")) },
  "/oauth/:provider": { page: lazy(() => import("./features/identity/oauth-page")) },
  "/push": { page: lazy(() => import("./features/push/push-page")) },
  "/setup": { page: lazy(() => import("./features/setup/setup-page")) },
  "/playground": { page: lazy(() => import("./features/playground/playground-page")), icon: MessagesSquare },
  "/chat/:id?": { page: lazy(() => import("./features/chat/chat-page")), icon: MessageCircle },
  "/chat2link": { page: lazy(() => import("./features/chat/chat-redirect-page")) },
  "/token": { page: lazy(() => import("./features/token/token-page")), icon: KeyRound },
  "/log": { page: lazy(() => import("./features/log/log-page")), icon: ScrollText },
  "/detail": { page: lazy(() => import("./features/dashboard/dashboard-page")), icon: ChartColumn },
  "/midjourney": { page: lazy(() => import("./features/midjourney/midjourney-page")), icon: Palette },
  "/task": { page: lazy(() => import("./features/task/task-page")), icon: ListTodo },
  "/topup": { page: lazy(() => import("./features/wallet/topup-page")), icon: Wallet },
  "/personal": { page: lazy(() => import("./features/personal/personal-redirect")), icon: UserCog },
  "/channel": {
    page: lazy(() => import("./features/channel/channel-page")),
    icon: Waypoints,
    badge: AutoDisabledBadge,
  },
  "/incident": { page: lazy(() => import("./features/incident/incident-page")), icon: BellRing },
  "/instance": { page: lazy(() => import("./features/instance/instance-page")), icon: Server },
  "/user/edit": { page: lazy(() => import("./features/personal/profile-page")) },
  "/user": { page: lazy(() => import("./features/user/user-page")), icon: Users },
  "/setting": { page: lazy(() => import("./features/setting/setting-page")), icon: Settings },
  "/audit": { page: lazy(() => import("./features/audit/audit-page")), icon: History },
  "/redemption": { page: lazy(() => import("./features/redemption/redemption-page")), icon: Ticket },
  "/setting/pricing": { page: lazy(() => import("./features/price-editor/price-editor-page")), icon: Tags },
};
