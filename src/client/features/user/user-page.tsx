import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import {
  ArrowDown,
  ArrowUp,
  Ban,
  CircleCheck,
  Download,
  Eraser,
  Pencil,
  Plus,
  OctagonX,
  ScrollText,
  Trash2,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useMemo } from "react";
import { useLocation, useParams } from "wouter";
import { LOG_TYPE } from "../../../shared/log";
import { ROLE, USER_STATUS, type UserAction } from "../../../shared/roles";
import { type ManagedUser, USER_SORTS, USER_STATES } from "../../../shared/user-manage";
import { DataGrid } from "../../components/data-grid/data-grid";
import { NEW, useGridState } from "../../components/data-grid/grid-state";
import { listedPage } from "../../components/data-grid/listed-page";
import type { GridAction, GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useOfferActions, WORDS_OF_ADD } from "../../lib/palette-actions";
import { useHasRole } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { useRefusal, useUserActions } from "./user-actions";
import { useUserColumns } from "./user-columns";
import type { UserDrawerProps } from "./user-drawer";

const UserDrawer = lazy<UserDrawerProps>(() => import("./user-drawer"));

const FILTERS = ["keyword", "group", "role", "state"] as const;

/** Accounts, for administrators. `?edit=<id>` opens the drawer, `?edit=new` the form for a new one. */
export default function UserPage() {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const { id: addressed } = useParams<{ id?: string }>();
  const grid = useGridState({ name: "user", filterKeys: FILTERS });
  const columns = useUserColumns();
  const filters = useUserFilters();
  const rowActions = useRowActions(grid.setEdit);
  const { keyword, group, role, state } = grid.filters;
  const { client } = trpc.useUtils();
  const asked = {
    keyword: keyword.slice(0, 200),
    group: group.slice(0, 64),
    ...(/^\d{1,3}$/.test(role) ? { role: Number(role) } : {}),
    state: USER_STATES.find((name) => name === state) ?? "",
    sort: USER_SORTS.find((name) => name === grid.sort?.key) ?? "id",
    desc: grid.sort?.desc ?? false,
  };
  const list = trpc.user.list.useQuery(
    { page: grid.page, page_size: grid.pageSize, ...asked },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );

  // The specification's address of the form.
  useEffect(() => {
    if (addressed !== undefined) navigate(`/user?edit=${encodeURIComponent(addressed)}`, { replace: true });
  }, [addressed, navigate]);

  const { setEdit } = grid;
  useOfferActions(
    useMemo(
      () => [{ id: "user-add", words: WORDS_OF_ADD, title: t`添加用户`, icon: Plus, run: () => setEdit(NEW) }],
      [t, setEdit],
    ),
  );

  const add = (
    <Button variant="primary" onClick={() => grid.setEdit(NEW)}>
      <Plus aria-hidden />
      {t`添加用户`}
    </Button>
  );

  return (
    <Page title={t`用户管理`} actions={add}>
      <DataGrid
        grid={grid}
        label={t`用户列表`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "keyword", placeholder: t`搜索 ID、用户名、邮箱、显示名称` }}
        filters={filters}
        views={[
          { id: "admins", title: t`管理员`, filters: { role: String(ROLE.admin) } },
          { id: "spenders", title: t`消费最多`, filters: { state: "living" }, sort: "-used_quota" },
        ]}
        readPage={async (page, page_size) => (await client.user.list.query({ page, page_size, ...asked })).items}
        onOpen={(row) => grid.setEdit(row.id)}
        onEdit={(row) => row.DeletedAt === null && grid.setEdit(row.id)}
        rowActions={rowActions}
        shaded={(row) => row.status !== USER_STATUS.active || row.DeletedAt !== null}
        empty={{ title: t`没有符合条件的用户`, description: t`换一个关键词，或清除筛选条件。`, action: add }}
      />
      <WhileLoading show={null}>
        {grid.edit === null ? null : <UserDrawer edit={grid.edit} onEdit={grid.setEdit} />}
      </WhileLoading>
    </Page>
  );
}

function useUserFilters(): readonly GridFilter[] {
  const { t } = useLingui();
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000, meta: { quiet: true } });
  return [
    {
      key: "group",
      label: t`分组`,
      kind: "choice",
      options: (groups.data ?? []).map((name) => ({ value: name, label: name })),
    },
    {
      key: "role",
      label: t`角色`,
      kind: "choice",
      options: [
        { value: String(ROLE.user), label: t`普通用户` },
        { value: String(ROLE.admin), label: t`管理员` },
        { value: String(ROLE.root), label: t`超级管理员` },
      ],
    },
    {
      key: "state",
      label: t`状态`,
      kind: "choice",
      options: [
        { value: String(USER_STATUS.active), label: t`已激活` },
        { value: String(USER_STATUS.banned), label: t`已封禁` },
        { value: String(USER_STATUS.locked), label: t`已锁定` },
        { value: "living", label: t`未注销` },
        { value: "deleted", label: t`已注销` },
      ],
    },
  ];
}

/** The menu of a row: what this administrator may do to that account, and why not the rest. */
function useRowActions(setEdit: (id: number) => void): (row: ManagedUser) => readonly GridAction[] {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const actions = useUserActions();
  const refusal = useRefusal();
  const root = useHasRole(ROLE.root);
  return (row) => {
    const act = (
      id: UserAction,
      label: string,
      icon: LucideIcon,
      onSelect: () => void,
      more: Partial<GridAction> = {},
    ): GridAction => {
      const hint = refusal(row, id);
      return { id, label, icon, onSelect, ...(hint === undefined ? {} : { disabled: true, hint }), ...more };
    };
    // What is left of the person is removed in the account's drawer.
    if (row.DeletedAt !== null) return [];
    return [
      act("update", t`编辑`, Pencil, () => setEdit(row.id), { shortcut: "E" }),
      {
        id: "log",
        label: t`查看日志`,
        icon: ScrollText,
        onSelect: () => navigate(`/log?username=${encodeURIComponent(row.username)}`),
      },
      {
        id: "failures",
        label: t`失败的调用`,
        icon: OctagonX,
        onSelect: () => navigate(`/log?username=${encodeURIComponent(row.username)}&type=${LOG_TYPE.error}`),
      },
      act("promote", t`提升`, ArrowUp, () => void actions.manage(row, "promote"), { separated: true }),
      act("demote", t`降级`, ArrowDown, () => void actions.manage(row, "demote")),
      act("enable", t`启用`, CircleCheck, () => void actions.manage(row, "enable")),
      act("disable", t`禁用`, Ban, () => void actions.manage(row, "disable")),
      act("read", t`导出数据`, Download, () => void actions.download(row), { separated: true }),
      act("delete", t`删除`, Trash2, () => void actions.manage(row, "delete"), { danger: true, separated: true }),
      ...(root ? [act("erase", t`清除个人数据`, Eraser, () => void actions.erase(row), { danger: true })] : []),
    ];
  };
}
