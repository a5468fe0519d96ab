import { useLingui } from "@lingui/react/macro";
import { Compass, Menu, Search } from "lucide-react";
import { Link, useLocation } from "wouter";
import { ROLE } from "../../shared/roles";
import { cn } from "../lib/cn";
import { lazy, WhileLoading } from "../lib/lazy";
import { useUser } from "../lib/session";
import { useStatus } from "../lib/status";
import { consoleHome, consolePages, isOnTopBar } from "../paths";
import { Button } from "../ui/button";
import { DropdownMenu, DropdownMenuContent, DropdownMenuItem, DropdownMenuTrigger } from "../ui/dropdown-menu";
import { IconButton } from "../ui/icon-button";
import { Kbd } from "../ui/kbd";
import { Brand } from "./brand";
import { LanguageMenu, ThemeMenu } from "./preferences";
import { SignInLinks } from "./sign-in-links";
import { UserMenu } from "./user-menu";

/** Only administrators fetch it. */
const IncidentBell = lazy(() => import("../features/incident/incident-bell"));

type TopBarProps = {
  /** Opens the menu on a phone; absent where there is no side menu. */
  onMenu?: () => void;
  onPalette: () => void;
  /** Fetches the palette early. */
  onPaletteHover: () => void;
  onShortcuts: () => void;
};

/** The bar over every page. */
export function TopBar({ onMenu, onPalette, onPaletteHover, onShortcuts }: TopBarProps) {
  const { t, i18n } = useLingui();
  const user = useUser();
  // Some links depend on the server's status.
  useStatus();
  const [path] = useLocation();
  // Signed out it leads there by way of the login page (C-170).
  const home = consoleHome(user?.role ?? ROLE.user);
  const links: { href: string; title: string }[] = consolePages
    .filter(isOnTopBar)
    .map((page) => ({ href: page.path, title: i18n._(page.title) }));
  if (home) links.splice(1, 0, { href: home, title: t`控制台` });

  const keys = isMac() ? "⌘K" : "Ctrl K";

  return (
    <header
      data-print="hide"
      className="sticky top-0 z-30 flex h-12 items-center gap-2 border-b border-line bg-surface px-3 max-[23rem]:gap-0 max-[23rem]:px-2 sm:px-4"
    >
      {onMenu ? (
        <IconButton label={t`打开菜单`} onClick={onMenu} className="sm:hidden">
          <Menu />
        </IconButton>
      ) : null}
      <Brand />
      <nav aria-label={t`站点`} className="ml-2 flex gap-1 max-sm:hidden">
        {links.map((link) => (
          <Link
            key={link.href}
            href={link.href}
            aria-current={path === link.href ? "page" : undefined}
            className={cn(
              "flex h-8 items-center rounded-md px-2.5 text-ink-2 hover:bg-sunken hover:text-ink",
              path === link.href && "text-ink",
            )}
          >
            {link.title}
          </Link>
        ))}
      </nav>
      <SiteMenu links={links} />
      <div className="flex-1" />
      {user ? (
        <Button
          variant="secondary"
          onClick={onPalette}
          onPointerEnter={onPaletteHover}
          className="justify-start border-line px-2.5 text-muted max-lg:w-10 max-lg:justify-center max-lg:px-0 max-sm:border-transparent lg:w-52"
          // It begins with what is seen of it (WCAG 2.5.3).
          aria-label={t`搜索 ${keys}`}
          aria-keyshortcuts="Control+K Meta+K"
        >
          <Search aria-hidden />
          <span className="flex-1 text-left font-normal max-lg:hidden">{t`搜索`}</span>
          <Kbd className="max-lg:hidden">{keys}</Kbd>
        </Button>
      ) : null}
      {user && user.role >= ROLE.admin ? (
        <WhileLoading show={<span aria-hidden className="w-8 pointer-coarse:w-10" />}>
          <IncidentBell />
        </WhileLoading>
      ) : null}
      <LanguageMenu />
      <ThemeMenu />
      {user ? <UserMenu user={user} onShortcuts={onShortcuts} /> : <SignInLinks />}
    </header>
  );
}

function isMac(): boolean {
  return navigator.userAgent.includes("Mac");
}

/** The links of the bar where they have no room in it. */
function SiteMenu({ links }: { links: readonly { href: string; title: string }[] }) {
  const { t } = useLingui();
  const [path, navigate] = useLocation();
  return (
    <DropdownMenu>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`站点`} className="sm:hidden">
          <Compass />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent align="start">
        {links.map((link) => (
          <DropdownMenuItem
            key={link.href}
            aria-current={path === link.href ? "page" : undefined}
            onSelect={() => navigate(link.href)}
          >
            {link.title}
          </DropdownMenuItem>
        ))}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
