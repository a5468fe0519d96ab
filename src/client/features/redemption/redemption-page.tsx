import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { Copy, Eraser, Eye, Pencil, Plus, Power, PowerOff, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";
import {
  REDEMPTION_STATES,
  REDEMPTION_STATUS,
  type RedemptionState,
  type RedemptionView,
} from "../../../shared/redemption";
import { DataGrid } from "../../components/data-grid/data-grid";
import { type GridState, NEW, useGridState } from "../../components/data-grid/grid-state";
import { listedPage, useExistingPage } from "../../components/data-grid/listed-page";
import type { GridAction, GridFilter } from "../../components/data-grid/types";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useOfferActions, WORDS_OF_ADD } from "../../lib/palette-actions";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Skeleton } from "../../ui/skeleton";
import { NewCodesDrawer } from "./new-codes";
import { offeredFor, useRedemptionActions } from "./redemption-actions";
import { useRedemptionColumns } from "./redemption-columns";
import { RedemptionDetailDrawer } from "./redemption-detail";
import type { NewBatch, RedemptionFormDrawerProps } from "./redemption-form";

const RedemptionFormDrawer = lazy<RedemptionFormDrawerProps>(() => import("./redemption-form"));

const FILTERS = ["keyword", "state"] as const;

const stateOf = (text: string): RedemptionState | undefined => REDEMPTION_STATES.find((state) => state === text);

/** All redemption codes, for administrators. `?open=<id>` shows one, `?edit=<id>` and `?edit=new` open the form. */
export default function RedemptionPage() {
  const { t } = useLingui();
  const grid = useGridState({ name: "redemption", filterKeys: FILTERS });
  const columns = useRedemptionColumns();
  const actions = useRedemptionActions();
  const [batch, setBatch] = useState<NewBatch | null>(null);
  const { client } = trpc.useUtils();
  const asked = { keyword: grid.filters.keyword, state: stateOf(grid.filters.state) };
  const list = trpc.redemption.page.useQuery(
    { p: grid.page, page_size: grid.pageSize, ...asked },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );

  useExistingPage(grid, list);
  const { setEdit } = grid;
  useOfferActions(
    useMemo(
      () => [{ id: "redemption-add", words: WORDS_OF_ADD, title: t`添加兑换码`, icon: Plus, run: () => setEdit(NEW) }],
      [t, setEdit],
    ),
  );

  const filters: readonly GridFilter[] = [
    {
      key: "state",
      label: t`状态`,
      kind: "choice",
      options: [
        { value: "unused", label: t`未使用` },
        { value: "used", label: t`已使用` },
        { value: "disabled", label: t`已禁用` },
        { value: "expired", label: t`已过期` },
      ],
    },
  ];
  const rowActions = useRowActions(grid, actions);
  const add = (
    <Button variant="primary" onClick={() => grid.setEdit(NEW)}>
      <Plus aria-hidden />
      {t`添加兑换码`}
    </Button>
  );

  return (
    <Page title={t`兑换码`} actions={add}>
      <DataGrid
        grid={grid}
        label={t`兑换码列表`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "keyword", placeholder: t`搜索名称或 ID` }}
        filters={filters}
        selectable
        toolbar={(selection) => (
          <>
            <Button onClick={() => void actions.copyKeys(selection.rows)}>
              <Copy aria-hidden />
              {t`复制所选`}
            </Button>
            <Button onClick={() => void actions.removeInvalid()}>
              <Eraser aria-hidden />
              {t`删除失效兑换码`}
            </Button>
          </>
        )}
        readPage={async (p, page_size) => (await client.redemption.page.query({ p, page_size, ...asked })).items}
        onOpen={(row) => grid.setOpen(row.id)}
        onEdit={(row) => (offeredFor(row).edit ? grid.setEdit(row.id) : grid.setOpen(row.id))}
        onCopy={(row) => void actions.copyKey(row)}
        rowActions={rowActions}
        shaded={(row) => row.status !== REDEMPTION_STATUS.unused}
        empty={{
          title: t`还没有兑换码`,
          description: t`兑换码让用户自己充值：创建一批，发给他们，在钱包里兑换。`,
          action: add,
        }}
      />
      <WhileLoading show={null}>
        <RedemptionDrawer
          open={grid.open}
          edit={grid.edit}
          batch={batch}
          onOpen={grid.setOpen}
          onEdit={grid.setEdit}
          onBatch={setBatch}
        />
      </WhileLoading>
    </Page>
  );
}

type DrawerProps = {
  /** Ids as the address has them; `edit` goes first. */
  open: string | null;
  edit: string | null;
  /** The codes just made; they are in no address. */
  batch: NewBatch | null;
  onOpen: (id: number | null) => void;
  onEdit: (id: number | null) => void;
  onBatch: (batch: NewBatch | null) => void;
};

/** The drawer beside the list: new codes, the form, or one code. */
function RedemptionDrawer({ open, edit, batch, onOpen, onEdit, onBatch }: DrawerProps) {
  if (batch) return <NewCodesDrawer batch={batch} onClose={() => onBatch(null)} />;
  const created = (made: NewBatch) => {
    onEdit(null);
    onBatch(made);
  };
  if (edit === NEW)
    return <RedemptionFormDrawer key={NEW} stored={undefined} onClose={() => onEdit(null)} onCreated={created} />;
  const id = edit ?? open;
  if (id === null) return null;
  return (
    <StoredDrawer
      key={`${edit === null ? "open" : "edit"} ${id}`}
      id={id}
      editing={edit !== null}
      onOpen={onOpen}
      onEdit={onEdit}
    />
  );
}

/** Brings the code as the server has it now; one that was used meanwhile is shown and not edited. */
function StoredDrawer({
  id,
  editing,
  onOpen,
  onEdit,
}: { id: string; editing: boolean } & Pick<DrawerProps, "onOpen" | "onEdit">) {
  const { t } = useLingui();
  const close = () => (editing ? onEdit(null) : onOpen(null));
  const query = trpc.redemption.get.useQuery(
    // No code has this id: the server says that there is none.
    { id: /^[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.MAX_SAFE_INTEGER },
    { meta: { quiet: true }, refetchOnMount: "always" },
  );
  const row = query.data;
  if (row && query.isFetchedAfterMount) {
    if (editing && offeredFor(row).edit) {
      return <RedemptionFormDrawer stored={row} onClose={close} onCreated={() => undefined} />;
    }
    return <RedemptionDetailDrawer row={row} onEdit={() => onEdit(row.id)} onClose={close} />;
  }
  return (
    <Drawer open modal={false} onOpenChange={(next) => !next && close()} title={t`兑换码`}>
      {query.error ? (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <Skeleton className="h-40 rounded-lg" />
      )}
    </Drawer>
  );
}

/** The menu of a row: what can be done to a code of its state. */
function useRowActions(
  grid: GridState<(typeof FILTERS)[number]>,
  actions: ReturnType<typeof useRedemptionActions>,
): (row: RedemptionView) => readonly GridAction[] {
  const { t } = useLingui();
  const remove = async (row: RedemptionView) => {
    if (!(await actions.remove(row))) return;
    if (grid.open === String(row.id)) grid.setOpen(null);
    if (grid.edit === String(row.id)) grid.setEdit(null);
  };
  return (row) => {
    const offered = offeredFor(row);
    const some: readonly (GridAction | false)[] = [
      { id: "view", label: t`查看`, icon: Eye, onSelect: () => grid.setOpen(row.id) },
      { id: "copy", label: t`复制`, icon: Copy, shortcut: "C", onSelect: () => void actions.copyKey(row) },
      offered.edit && { id: "edit", label: t`编辑`, icon: Pencil, shortcut: "E", onSelect: () => grid.setEdit(row.id) },
      offered.disable && {
        id: "disable",
        label: t`禁用`,
        icon: PowerOff,
        onSelect: () => void actions.setEnabled(row, false),
      },
      offered.enable && {
        id: "enable",
        label: t`启用`,
        icon: Power,
        onSelect: () => void actions.setEnabled(row, true),
      },
      { id: "delete", label: t`删除`, icon: Trash2, danger: true, separated: true, onSelect: () => void remove(row) },
    ];
    return some.filter((action) => action !== false);
  };
}
