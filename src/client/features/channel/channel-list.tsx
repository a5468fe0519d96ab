import { useLingui } from "@lingui/react/macro";
import { Plus } from "lucide-react";
import { useMemo, useState, type ReactNode } from "react";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { channelTypes } from "../../../shared/channel-types";
import { DataGrid } from "../../components/data-grid/data-grid";
import { useGridState } from "../../components/data-grid/grid-state";
import type { GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useOfferActions, WORDS_OF_ADD } from "../../lib/palette-actions";
import { readStored, writeStored } from "../../lib/storage";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { useChannelActions } from "./channel-actions";
import { useChannelColumns } from "./channel-columns";
import type { ListDialog } from "./channel-dialogs";
import { ChannelDrawer, preloadForm } from "./channel-drawer";
import { FILTER_KEYS, useChannelRows, useListMode } from "./channel-list-query";
import { ListToolbar, statusOptions } from "./channel-list-toolbar";
import { useRowActions } from "./channel-row-actions";
import type { ListRow } from "./channel-rows";
import { useRun } from "./channel-runs";
import { typeName } from "./channel-type-look";
import { HealthProvider } from "./health-bars";
import { TestButton } from "./test-button";

const RunProgress = lazy(() => import("./run-progress"));
const ChannelDialogs = lazy(() => import("./channel-dialogs"));

/** Kept in local storage under the name that older front-ends use. */
const ID_SORT_KEY = "id-sort";

/** The list of all channels, with the drawers that open from it. */
export function ChannelList() {
  const { t } = useLingui();
  const grid = useGridState({ name: "channel", filterKeys: FILTER_KEYS });
  const [idSort, sortById] = useIdSort();
  const list = useListMode();
  const { mode, fold } = list;
  const [dialog, setDialog] = useState<ListDialog | null>(null);
  const columns = useChannelColumns(fold);
  const actions = useChannelActions();
  const rowActions = useRowActions(grid, actions, setDialog);
  const filters = useChannelFilters();
  const test = useRun("test");
  const balance = useRun("balance");
  const { ids, ...page } = useChannelRows(grid, mode, idSort);

  const { setEdit } = grid;
  useOfferActions(
    useMemo(
      () => [{ id: "channel-add", words: WORDS_OF_ADD, title: t`添加渠道`, icon: Plus, run: () => setEdit("new") }],
      [t, setEdit],
    ),
  );
  const add = (
    <Button variant="primary" onPointerEnter={preloadForm} onFocus={preloadForm} onClick={() => grid.setEdit("new")}>
      <Plus aria-hidden />
      {t`添加渠道`}
    </Button>
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
          {...page}
          rowId={(row) => row.id}
          search={{ key: "keyword", placeholder: t`搜索 ID、名称或密钥` }}
          filters={filters}
          views={[
            {
              id: "auto-disabled",
              title: t`被自动禁用的渠道`,
              filters: { status: String(CHANNEL_STATUS.auto_disabled) },
            },
          ]}
          toolbar={(selection) => (
            <ListToolbar
              {...{ grid, list, selection, idSort, test, balance }}
              onIdSort={sortById}
              onDialog={setDialog}
            />
          )}
          selectable={mode.batch}
          onStartSelecting={() => list.setMode({ batch: true })}
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

/** Whether the list is sorted by id, remembered. */
function useIdSort(): [boolean, (on: boolean) => void] {
  const [on, setOn] = useState(() => readStored(ID_SORT_KEY) === "true");
  const change = (next: boolean) => {
    setOn(next);
    writeStored(ID_SORT_KEY, String(next));
  };
  return [on, change];
}

function useChannelFilters(): readonly GridFilter[] {
  const { t } = useLingui();
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });
  return [
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
}
