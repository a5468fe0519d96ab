import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { Copy, ListChecks, Pencil, Plus, Power, PowerOff, Radar, Tags, Trash2, Zap } from "lucide-react";
import { useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import { CHANNEL_STATUS, CHANNEL_STATUS_NAMES } from "../../../shared/channel";
import { channelType, channelTypes } from "../../../shared/channel-types";
import { DataGrid } from "../../components/data-grid/data-grid";
import type { GridSelection } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import type { GridAction, GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useOfferActions } from "../../lib/palette-actions";
import { readStored, writeStored } from "../../lib/storage";
import { trpc } from "../../lib/trpc";
import { useUrlState, type UrlParam } from "../../lib/url-state";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { IconButton } from "../../ui/icon-button";
import { useChannelActions } from "./channel-actions";
import { useChannelColumns } from "./channel-columns";
import type { ListDialog } from "./channel-dialogs";
import { ChannelDrawer, preloadForm } from "./channel-drawer";
import { channelsBehind, channelsOf, plainRows, tagRows, type ListRow } from "./channel-rows";
import { useRun } from "./channel-runs";
import { useRunTest } from "./channel-tests";
import { typeName } from "./channel-type-look";
import { HealthProvider } from "./health-bars";
import { ListMenu } from "./list-menu";
import { TestButton } from "./test-button";

const BatchBar = lazy(() => import("./batch-bar"));
const RunProgress = lazy(() => import("./run-progress"));
const ChannelDialogs = lazy(() => import("./channel-dialogs"));

const FILTER_KEYS = ["keyword", "model", "group", "type", "status"] as const;
/** Kept in local storage under the name that older front-ends use. */
const ID_SORT_KEY = "id-sort";

const switchParam: UrlParam<boolean> = { read: (text) => text === "1", write: (on) => (on ? "1" : null) };
/** How the list is shown, as the address has it: by tag, which tags are unfolded, with boxes to select. */
const MODE = {
  tags: switchParam,
  unfold: {
    read: (text) => new Set((text ?? "").split(",").filter(Boolean).map(decodeURIComponent)),
    write: (tags) => [...tags].map(encodeURIComponent).join(",") || null,
  } satisfies UrlParam<ReadonlySet<string>>,
  batch: switchParam,
  /** The page belongs to the list; another order begins at the first. */
  p: { read: (text) => text ?? "", write: (text) => text || null } satisfies UrlParam<string>,
};

/** A filter of the address as the call wants it: a whole number, or nothing. */
const wholeNumber = (text: string): { number?: number } => (/^-?\d{1,9}$/.test(text) ? { number: Number(text) } : {});

/** The list of all channels, with the drawers that open from it. */
export function ChannelList() {
  const { t } = useLingui();
  const grid = useGridState({ name: "channel", filterKeys: FILTER_KEYS });
  const [idSort, setIdSort] = useState(() => readStored(ID_SORT_KEY) === "true");
  const sortById = (on: boolean) => {
    setIdSort(on);
    writeStored(ID_SORT_KEY, String(on));
  };
  const [mode, setMode] = useUrlState(MODE);
  const [dialog, setDialog] = useState<ListDialog | null>(null);
  const { unfold } = mode;
  const fold = useCallback(
    (tag: string) => {
      const next = new Set(unfold);
      if (!next.delete(tag)) next.add(tag);
      setMode({ unfold: next });
    },
    [unfold, setMode],
  );
  const columns = useChannelColumns(fold);
  const actions = useChannelActions();
  const runTest = useRunTest();
  const test = useRun("test");
  const balance = useRun("balance");
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });

  const { keyword, model, group, type, status } = grid.filters;
  const { number: typeNumber } = wholeNumber(type);
  const { number: statusNumber } = wholeNumber(status);
  const asked = {
    page: grid.page,
    page_size: grid.pageSize,
    id_sort: idSort,
    keyword,
    model,
    group,
    ...(typeNumber === undefined ? {} : { type: typeNumber }),
    ...(statusNumber === undefined ? {} : { status: statusNumber }),
  };
  const quiet = { placeholderData: keepPreviousData, meta: { quiet: true } } as const;
  const plain = trpc.channel.list.useQuery(asked, { ...quiet, enabled: !mode.tags });
  const tagged = trpc.channel.tagPage.useQuery(asked, { ...quiet, enabled: mode.tags });
  const query = mode.tags ? tagged : plain;
  const { data } = query;
  const rows = useMemo(
    () => (mode.tags ? tagged.data && tagRows(tagged.data, unfold) : plain.data && plainRows(plain.data.items)),
    [mode.tags, tagged.data, plain.data, unfold],
  );
  const ids = useMemo(() => (rows ?? []).flatMap(channelsOf).map((channel) => channel.id), [rows]);

  // A page that became empty, because its last row was deleted, shows the one before it.
  const { setPage, page, pageSize } = grid;
  const total = data?.total ?? 0;
  const lastPage = Math.max(1, Math.ceil(total / pageSize));
  useEffect(() => {
    if (data && !query.isPlaceholderData && page > lastPage) setPage(lastPage);
  }, [data, query.isPlaceholderData, page, lastPage, setPage]);

  const { setEdit } = grid;
  useOfferActions(
    useMemo(() => [{ id: "channel-add", title: t`添加渠道`, icon: Plus, run: () => setEdit("new") }], [t, setEdit]),
  );

  const filters: readonly GridFilter[] = [
    { key: "model", label: t`模型`, kind: "text", placeholder: "gpt-4o" },
    {
      key: "group",
      label: t`分组`,
      kind: "choice",
      options: (groups.data ?? []).map((name) => ({ value: name, label: name })),
    },
    {
      key: "type",
      label: t`类型`,
      kind: "choice",
      options: channelTypes.map(({ id }) => ({ value: String(id), label: typeName(id) })),
    },
    { key: "status", label: t`状态`, kind: "choice", options: statusOptions() },
  ];

  const rowActions = (row: ListRow): readonly GridAction[] => {
    if (row.kind === "tag") {
      const { tag, channels } = row;
      return [
        {
          id: "enable",
          label: t`启用全部`,
          icon: Power,
          onSelect: () => void actions.setTagEnabled(tag, channels, true),
        },
        {
          id: "disable",
          label: t`禁用全部`,
          icon: PowerOff,
          onSelect: () => void actions.setTagEnabled(tag, channels, false),
        },
        {
          id: "edit",
          label: t`编辑标签`,
          icon: Pencil,
          shortcut: "E",
          onSelect: () => setDialog({ kind: "edit-tag", tag, channels }),
        },
      ];
    }
    const { channel } = row;
    return [
      {
        id: "test",
        label: t`测试`,
        icon: Zap,
        disabled: !channelType(channel.type)?.test,
        onSelect: () => void runTest(channel),
      },
      { id: "upstream", label: t`检测上游`, icon: Radar, onSelect: () => setDialog({ kind: "upstream", channel }) },
      { id: "edit", label: t`编辑`, icon: Pencil, shortcut: "E", onSelect: () => grid.setEdit(channel.id) },
      { id: "copy", label: t`复制`, icon: Copy, shortcut: "C", onSelect: () => void actions.copy(channel) },
      channel.status === CHANNEL_STATUS.enabled
        ? { id: "disable", label: t`禁用`, icon: PowerOff, onSelect: () => void actions.setEnabled(channel, false) }
        : { id: "enable", label: t`启用`, icon: Power, onSelect: () => void actions.setEnabled(channel, true) },
      {
        id: "delete",
        label: t`删除`,
        icon: Trash2,
        danger: true,
        separated: true,
        onSelect: async () => {
          const gone = await actions.remove(channel);
          if (gone && grid.open === String(channel.id)) grid.setOpen(null);
        },
      },
    ];
  };
  const add = (
    <Button variant="primary" onPointerEnter={preloadForm} onFocus={preloadForm} onClick={() => grid.setEdit("new")}>
      <Plus aria-hidden />
      {t`添加渠道`}
    </Button>
  );
  const toolbar = (selection: GridSelection<ListRow>): ReactNode => (
    <>
      <StatusChips value={status} onChange={(next) => grid.setFilters({ status: next })} />
      <label className="flex min-h-8 items-center gap-2 px-1 max-sm:hidden pointer-coarse:min-h-10">
        <Checkbox checked={idSort} onCheckedChange={(on) => sortById(on === true)} />
        {t`按 ID 排序`}
      </label>
      <ModeButton label={t`标签聚合`} on={mode.tags} onToggle={(tags) => setMode({ tags, p: "" })}>
        <Tags />
      </ModeButton>
      <ModeButton label={t`批量操作`} on={mode.batch} onToggle={(batch) => setMode({ batch })}>
        <ListChecks />
      </ModeButton>
      <ListMenu
        test={test}
        balance={balance}
        idSort={idSort}
        onIdSort={sortById}
        onRepaired={(report) => setDialog({ kind: "repair", report })}
        onDryRun={() => setDialog({ kind: "dry-run" })}
      />
      {mode.batch ? (
        <WhileLoading show={null}>
          <BatchBar
            channels={channelsBehind(selection.rows)}
            onClear={selection.clear}
            onTag={() => setDialog({ kind: "set-tag", channels: channelsBehind(selection.rows) })}
            onEdit={() => setDialog({ kind: "edit", channels: channelsBehind(selection.rows) })}
            onLeave={() => {
              selection.clear();
              setMode({ batch: false });
            }}
          />
        </WhileLoading>
      ) : null}
    </>
  );

  return (
    <Page title={t`渠道`} actions={add}>
      <WhileLoading show={null}>
        {test.run ? <RunProgress run={test.run} /> : null}
        {balance.run ? <RunProgress run={balance.run} /> : null}
      </WhileLoading>
      <HealthProvider ids={ids}>
        <DataGrid
          grid={grid}
          label={t`渠道列表`}
          columns={columns}
          rows={rows}
          rowId={(row) => row.id}
          total={data?.total}
          {...(tagged.data && mode.tags ? { shown: tagged.data.tags.length + tagged.data.untagged.length } : {})}
          query={query}
          search={{ key: "keyword", placeholder: t`搜索 ID、名称或密钥` }}
          filters={filters}
          views={[
            {
              id: "auto-disabled",
              title: t`被自动禁用的渠道`,
              filters: { status: String(CHANNEL_STATUS.auto_disabled) },
            },
          ]}
          toolbar={toolbar}
          selectable={mode.batch}
          onOpen={(row) => {
            if (row.kind === "channel") grid.setOpen(row.channel.id);
            // Walking through the rows with the drawer open passes over a tag.
            else if (grid.open === null) fold(row.tag);
          }}
          onEdit={(row) =>
            row.kind === "channel"
              ? grid.setEdit(row.channel.id)
              : setDialog({ kind: "edit-tag", tag: row.tag, channels: row.channels })
          }
          onCopy={(row) => row.kind === "channel" && void actions.copy(row.channel)}
          rowActions={rowActions}
          // Boxes need room of their own; the test of a row is in its menu as well.
          {...(mode.batch ? {} : { rowButtons: testButton, actionsWidth: 108 })}
          shaded={(row) =>
            row.kind === "tag" ? row.summary.enabled === 0 : row.channel.status !== CHANNEL_STATUS.enabled
          }
          empty={{
            title: t`还没有渠道`,
            description: t`渠道是你在上游的账户。添加一个，令牌才能调用模型。`,
            action: add,
          }}
        />
      </HealthProvider>
      {/* Room below the last card for the bar that floats there. */}
      {mode.batch ? <div aria-hidden className="h-28 shrink-0 sm:hidden" /> : null}
      <ChannelDrawer
        open={grid.open}
        edit={grid.edit}
        onEdit={grid.setEdit}
        onClose={() => (grid.edit === null ? grid.setOpen(null) : grid.setEdit(null))}
        onCreated={grid.setOpen}
      />
      {dialog ? (
        <WhileLoading show={null}>
          <ChannelDialogs dialog={dialog} onClose={() => setDialog(null)} />
        </WhileLoading>
      ) : null}
    </Page>
  );
}

const testButton = (row: ListRow): ReactNode =>
  row.kind === "channel" ? <TestButton compact channel={row.channel} /> : null;

/** A way of showing the list that is on or off. */
function ModeButton({
  label,
  on,
  onToggle,
  children,
}: {
  label: string;
  on: boolean;
  onToggle: (on: boolean) => void;
  children: ReactNode;
}) {
  return (
    <IconButton
      label={label}
      variant="secondary"
      aria-pressed={on}
      className={cn(on && "border-accent bg-accent-soft text-accent-text hover:bg-accent-soft")}
      onClick={() => onToggle(!on)}
    >
      {children}
    </IconButton>
  );
}

function statusOptions(): { value: string; label: string }[] {
  return Object.entries(CHANNEL_STATUS_NAMES).map(([value, name]) => ({ value, label: name[currentLanguage()] }));
}

/** The states of channels, one press away; on a phone the filter panel has them. */
function StatusChips({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t } = useLingui();
  const chips = [{ value: "", label: t`全部` }, ...statusOptions()];
  return (
    <div role="group" aria-label={t`状态`} className="flex gap-0.5 max-lg:hidden">
      {chips.map((chip) => (
        <Button
          key={chip.value}
          variant="ghost"
          aria-pressed={chip.value === value}
          className={cn("px-2", chip.value === value && "bg-accent-soft text-accent-text")}
          onClick={() => onChange(chip.value)}
        >
          {chip.label}
        </Button>
      ))}
    </div>
  );
}
