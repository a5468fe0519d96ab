import { useLingui } from "@lingui/react/macro";
import { Bookmark, Link2, Plus, Trash2 } from "lucide-react";
import { useId, useState } from "react";
import { copyText } from "../../lib/clipboard";
import { readStoredJson, writeStored } from "../../lib/storage";
import { toastSuccess } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "../../ui/dropdown-menu";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { Label } from "../../ui/label";
import type { GridState } from "./grid-state";
import type { GridView } from "./types";

interface SavedView {
  title: string;
  search: string;
  pageSize: number;
}

const isSavedViews = (value: unknown): value is SavedView[] =>
  Array.isArray(value) && value.every((view) => typeof view?.title === "string" && typeof view?.search === "string");

/** Named filters and sortings: those the list brings along and the user's own, which are kept locally. */
export function ViewsMenu<F extends string>({ grid, builtIn }: { grid: GridState<F>; builtIn: readonly GridView[] }) {
  const { t } = useLingui();
  const key = `views:${grid.name}`;
  const inputId = useId();
  const [saved, setSaved] = useState(() => readStoredJson(key, isSavedViews) ?? []);
  const [naming, setNaming] = useState<string | null>(null);

  const keep = (views: SavedView[]) => {
    setSaved(views);
    writeStored(key, JSON.stringify(views));
  };
  const share = async () => {
    const search = new URLSearchParams(grid.viewSearch);
    search.set("size", String(grid.pageSize));
    if (await copyText(`${location.origin}${location.pathname}?${search}`)) toastSuccess(t`链接已复制`);
  };
  const save = () => {
    const title = naming?.trim();
    if (!title) return;
    const view = { title, search: grid.viewSearch, pageSize: grid.pageSize };
    keep([...saved.filter((other) => other.title !== title), view]);
    setNaming(null);
    toastSuccess(t`视图已保存`);
  };

  return (
    <>
      <DropdownMenu>
        <DropdownMenuTrigger asChild>
          <IconButton label={t`视图`} variant="secondary">
            <Bookmark />
          </IconButton>
        </DropdownMenuTrigger>
        <DropdownMenuContent className="w-60">
          {builtIn.map((view) => (
            <DropdownMenuItem key={view.id} onSelect={() => grid.applyView(view)}>
              {view.title}
            </DropdownMenuItem>
          ))}
          {builtIn.length > 0 ? <DropdownMenuSeparator /> : null}
          <DropdownMenuLabel>{t`我的视图`}</DropdownMenuLabel>
          {saved.map((view) => (
            <div key={view.title} role="none" className="flex items-center">
              <DropdownMenuItem
                className="flex-1"
                onSelect={() => {
                  grid.applySearch(`${view.search}&size=${view.pageSize}`);
                }}
              >
                {view.title}
              </DropdownMenuItem>
              <DropdownMenuItem
                aria-label={t`删除视图 ${view.title}`}
                className="px-1.5"
                icon={<Trash2 aria-hidden />}
                onSelect={(event) => {
                  event.preventDefault();
                  keep(saved.filter((other) => other !== view));
                }}
              />
            </div>
          ))}
          <DropdownMenuItem icon={<Link2 aria-hidden />} onSelect={() => void share()}>
            {t`复制当前视图的链接`}
          </DropdownMenuItem>
          <DropdownMenuItem
            icon={<Plus aria-hidden />}
            onSelect={() => setNaming("")}
          >{t`保存当前视图…`}</DropdownMenuItem>
        </DropdownMenuContent>
      </DropdownMenu>
      <Dialog
        open={naming !== null}
        onOpenChange={(open) => !open && setNaming(null)}
        title={t`保存当前视图`}
        description={t`筛选、排序与每页条数会保存在此浏览器中。`}
        footer={
          <>
            <Button onClick={() => setNaming(null)}>{t`取消`}</Button>
            <Button variant="primary" disabled={!naming?.trim()} onClick={save}>{t`保存`}</Button>
          </>
        }
      >
        <div className="mt-3 grid gap-1">
          <Label htmlFor={inputId}>{t`名称`}</Label>
          <Input
            id={inputId}
            autoFocus
            maxLength={40}
            value={naming ?? ""}
            onChange={(event) => setNaming(event.target.value)}
            onKeyDown={(event) => event.key === "Enter" && !event.nativeEvent.isComposing && save()}
          />
        </div>
      </Dialog>
    </>
  );
}
