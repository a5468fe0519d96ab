import { useLingui } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { Dialog as Radix } from "radix-ui";
import { useEffect, useRef, useState } from "react";
import { Redirect, Route, useLocation, useSearch } from "wouter";
import { ConnectionBar } from "../components/connection-bar";
import { ErrorBoundary } from "../components/error-boundary";
import NotFoundPage from "../features/errors/not-found-page";
import { ROLE } from "../../shared/roles";
import ForbiddenPage from "../features/errors/forbidden-page";
import { cacheChannelModels } from "../lib/channel-models";
import { followChanges } from "../lib/changes";
import { judge } from "../lib/guard";
import { cameBack } from "../lib/kept-scroll";
import { useHotkeys } from "../lib/hotkeys";
import { lazy, WhileLoading } from "../lib/lazy";
import { useMedia, usePhone } from "../lib/media";
import { useHasRole, useUser } from "../lib/session";
import { useStatus, useStatusLoaded } from "../lib/status";
import { writeStored } from "../lib/storage";
import { accessOf, findPage, menuPageAt, menuPages } from "../paths";
import { routes } from "../routes";
import { Skeleton } from "../ui/skeleton";
import { Footer } from "./footer";
import { Sidebar, SIDEBAR_KEY, sidebarStartsCollapsed } from "./sidebar";
import { TopBar } from "./top-bar";
import { layerRoot } from "../ui/layers";

const Palette = lazy(() => import("./palette"));
const ShortcutsSheet = lazy(() => import("./shortcuts-sheet"));

/** Everything around the pages: bars, menus, keys, guards, title and focus on each change of page. */
export function Shell() {
  const { t } = useLingui();
  const user = useUser();
  const phone = usePhone();
  const [path, navigate] = useLocation();
  const [collapsed, setCollapsed] = useState(sidebarStartsCollapsed);
  // Beside a narrow page (a tablet, a page at 200 %) the menu shows its icons until it is opened.
  const narrow = useMedia("(max-width: 1023.98px)");
  const [openedNarrow, setOpenedNarrow] = useState(false);
  const small = narrow ? !openedNarrow : collapsed;
  const [menuOpen, setMenuOpen] = useState(false);
  const [paletteOpen, setPaletteOpen] = useState(false);
  const [paletteUsed, setPaletteUsed] = useState(false);
  const [sheetOpen, setSheetOpen] = useState(false);
  const withMenu = user !== null && accessOf(path) !== "public";

  const openPalette = () => {
    setPaletteUsed(true);
    setPaletteOpen(true);
  };
  const goKeys = menuPages(user?.role ?? 0).flatMap((page) =>
    page.goKey ? [[`g ${page.goKey}`, () => navigate(page.nav?.to ?? page.path)] as const] : [],
  );
  const administrates = useHasRole(ROLE.admin);
  const queries = useQueryClient();
  const signedIn = user !== null;
  useEffect(() => (signedIn ? followChanges(queries) : undefined), [queries, signedIn]);
  useEffect(() => {
    if (administrates) void cacheChannelModels();
  }, [administrates]);
  // Fetched at the first half of Ctrl K: what is typed right after it must find its field.
  useEffect(() => {
    const early = ({ key }: KeyboardEvent) => {
      if (key === "Control" || key === "Meta") Palette.preload();
    };
    window.addEventListener("keydown", early);
    return () => window.removeEventListener("keydown", early);
  }, []);
  useHotkeys({
    "$mod+k": openPalette,
    "[Shift]+?": () => setSheetOpen(true),
    ...Object.fromEntries(goKeys),
  });

  return (
    <>
      <a href="#main" className="floating sr-only px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2">
        {t`跳到主要内容`}
      </a>
      <TopBar
        onMenu={withMenu && phone ? () => setMenuOpen(true) : undefined}
        onPalette={openPalette}
        onPaletteHover={Palette.preload}
        onShortcuts={() => setSheetOpen(true)}
      />
      <div className="flex min-h-[calc(100dvh-48px)]">
        {withMenu && !phone ? (
          <aside
            data-print="hide"
            className={`sticky top-12 h-[calc(100dvh-48px)] shrink-0 border-r border-line bg-surface ${small ? "w-14" : "w-58"}`}
          >
            <Sidebar
              user={user}
              collapsed={small}
              onCollapse={(next) => {
                if (narrow) return setOpenedNarrow(!next);
                setCollapsed(next);
                writeStored(SIDEBAR_KEY, String(next));
              }}
            />
          </aside>
        ) : null}
        <div className="flex min-w-0 flex-1 flex-col">
          <ConnectionBar />
          <Main />
          <Footer />
        </div>
      </div>
      {withMenu && phone ? (
        <Radix.Root open={menuOpen} onOpenChange={setMenuOpen}>
          <Radix.Portal container={layerRoot()}>
            <Radix.Overlay className="fixed inset-0 z-40 bg-overlay" />
            <Radix.Content
              aria-describedby={undefined}
              className="fixed inset-y-0 left-0 z-40 w-70 max-w-[85vw] border-r border-line bg-raised data-[state=open]:animate-in data-[state=open]:slide-in-from-left-16"
            >
              <Radix.Title className="sr-only">{t`主菜单`}</Radix.Title>
              <Sidebar user={user} collapsed={false} onNavigate={() => setMenuOpen(false)} />
            </Radix.Content>
          </Radix.Portal>
        </Radix.Root>
      ) : null}
      {sheetOpen ? <ShortcutsSheet open onOpenChange={setSheetOpen} /> : null}
      {paletteUsed ? (
        <WhileLoading show={null}>
          <Palette open={paletteOpen} onOpenChange={setPaletteOpen} onShortcuts={() => setSheetOpen(true)} />
        </WhileLoading>
      ) : null}
    </>
  );
}

/** The page itself, behind its guard. */
function Main() {
  const { t, i18n } = useLingui();
  const user = useUser();
  const [path] = useLocation();
  const search = useSearch();
  const status = useStatus();
  const statusLoaded = useStatusLoaded();
  const main = useRef<HTMLElement>(null);
  const found = findPage(path);
  const Page = found && routes[found.page.path].page;
  const verdict = judge(accessOf(path), user, { pathname: path, search: search ? `?${search}` : "" });
  const title = found ? i18n._((menuPageAt(path, search) ?? found.page).title) : t`页面不存在`;
  const name = status.system_name || "Weir";
  const page = found?.page.path ?? path;

  useEffect(() => {
    document.title = path === "/" ? name : `${title} - ${name}`;
  }, [path, title, name]);

  // A change of page is a change of place: the focus and the view go to its beginning. Not on the first page, where the
  // browser puts them, not on the way back, and not between the addresses of one page.
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current === page) return;
    shown.current = page;
    main.current?.focus({ preventScroll: true });
    if (!cameBack()) scrollTo(0, 0);
  }, [page]);

  if (statusLoaded && status.setup === false && path !== "/setup") return <Redirect to="/setup" replace />;
  if (verdict.kind === "redirect") return <Redirect to={verdict.to} replace />;

  return (
    <main id="main" ref={main} tabIndex={-1} className="flex min-w-0 flex-1 flex-col outline-none">
      <ErrorBoundary resetKey={path}>
        <WhileLoading show={<PageSkeleton />}>
          {verdict.kind === "forbidden" ? (
            <ForbiddenPage />
          ) : found && Page ? (
            <Route path={found.pattern}>
              <Page key={found.page.path} />
            </Route>
          ) : (
            <NotFoundPage />
          )}
        </WhileLoading>
      </ErrorBoundary>
    </main>
  );
}

function PageSkeleton() {
  return (
    <div className="grid gap-4 p-4 sm:p-6">
      <Skeleton className="h-7 w-48" />
      <Skeleton className="h-64" />
    </div>
  );
}
