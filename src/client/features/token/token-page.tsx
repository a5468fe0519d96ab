import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import { Copy, Pencil, Plus, Power, PowerOff, Trash2, Zap } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { bareKey, HINT_HEAD, KEY_PREFIX, TOKEN_STATUS, type TokenView } from "../../../shared/token";
import { DataGrid } from "../../components/data-grid/data-grid";
import { type GridState, NEW, useGridState } from "../../components/data-grid/grid-state";
import { listedPage } from "../../components/data-grid/listed-page";
import type { GridAction, GridFilter } from "../../components/data-grid/types";
import { Page } from "../../components/page";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useOfferActions, WORDS_OF_ADD } from "../../lib/palette-actions";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { useChatAction } from "./chat-action";
import { useTokenActions } from "./token-actions";
import { useTokenColumns } from "./token-columns";
import type { TokenDrawerProps } from "./token-drawer";

const TokenDrawer = lazy<TokenDrawerProps>(() => import("./token-drawer"));

const FILTERS = ["keyword", "token"] as const;
type Filter = (typeof FILTERS)[number];

/**
 * The list's state, with the key filter cut to what the list shows of a key: a whole key that is pasted there must not
 * stay in the address and so in the browser's history.
 */
function useTokenGrid(): GridState<Filter> {
  const grid = useGridState({ name: "token", filterKeys: FILTERS });
  return useMemo(
    () => ({
      ...grid,
      setFilters: ({ token, ...others }, step) =>
        grid.setFilters({ ...others, ...(token === undefined ? {} : { token: shortKey(token) }) }, step),
    }),
    [grid],
  );
}

/** `sk-` and the first 8 characters; shorter texts as they are. */
function shortKey(text: string): string {
  const bare = bareKey(text);
  return bare.length > HINT_HEAD ? KEY_PREFIX + bare.slice(0, HINT_HEAD) : text.trim();
}

/** The user's own tokens. `?open=<id>` shows how to use one, `?edit=<id>` and `?edit=new` open the form. */
export default function TokenPage() {
  const { t } = useLingui();
  const grid = useTokenGrid();
  // Kept from then on: it shows the keys of a batch, which are in no address.
  const [drawerUsed, setDrawerUsed] = useState(false);
  if (!drawerUsed && (grid.open !== null || grid.edit !== null)) setDrawerUsed(true);
  const columns = useTokenColumns();
  const actions = useTokenActions();
  const chatAction = useChatAction();
  const { client } = trpc.useUtils();
  const asked = { keyword: grid.filters.keyword, token: grid.filters.token };
  const list = trpc.token.list.useQuery(
    { page: grid.page, page_size: grid.pageSize, ...asked },
    { placeholderData: keepPreviousData, meta: { quiet: true } },
  );

  // A page that became empty, because its last row was deleted, shows the one before it.
  const { setPage, page, pageSize } = grid;
  const lastPage = Math.max(1, Math.ceil((list.data?.total ?? 0) / pageSize));
  useEffect(() => {
    if (list.data && !list.isPlaceholderData && page > lastPage) setPage(lastPage);
  }, [list.data, list.isPlaceholderData, page, lastPage, setPage]);

  const { setEdit } = grid;
  useOfferActions(
    useMemo(
      () => [{ id: "token-add", words: WORDS_OF_ADD, title: t`添加令牌`, icon: Plus, run: () => setEdit(NEW) }],
      [t, setEdit],
    ),
  );

  const filters: readonly GridFilter[] = [{ key: "token", label: t`密钥`, kind: "text", placeholder: "sk-AbCd…" }];
  const rowActions = (row: TokenView): readonly GridAction[] => [
    { id: "connect", label: t`连接`, icon: Zap, onSelect: () => grid.setOpen(row.id) },
    { id: "copy", label: t`复制密钥`, icon: Copy, shortcut: "C", onSelect: () => void actions.copyKey(row) },
    chatAction(row),
    { id: "edit", label: t`编辑`, icon: Pencil, shortcut: "E", onSelect: () => grid.setEdit(row.id) },
    row.status === TOKEN_STATUS.enabled
      ? { id: "disable", label: t`禁用`, icon: PowerOff, onSelect: () => void actions.setEnabled(row, false) }
      : { id: "enable", label: t`启用`, icon: Power, onSelect: () => void actions.setEnabled(row, true) },
    {
      id: "delete",
      label: t`删除`,
      icon: Trash2,
      danger: true,
      separated: true,
      onSelect: async () => {
        const gone = await actions.remove(row);
        if (gone && grid.open === String(row.id)) grid.setOpen(null);
        if (gone && grid.edit === String(row.id)) grid.setEdit(null);
      },
    },
  ];
  const add = (
    <Button variant="primary" onClick={() => grid.setEdit(NEW)}>
      <Plus aria-hidden />
      {t`添加令牌`}
    </Button>
  );

  return (
    <Page title={t`API 令牌`} actions={add}>
      <DataGrid
        grid={grid}
        label={t`令牌列表`}
        columns={columns}
        {...listedPage(list, grid.pageSize)}
        search={{ key: "keyword", placeholder: t`搜索令牌名称` }}
        filters={filters}
        toolbar={(selection) => (
          <Button onClick={() => void actions.copyKeys(selection.rows.map((row) => row.id))}>
            <Copy aria-hidden />
            {t`复制所选`}
          </Button>
        )}
        readPage={async (page, page_size) => (await client.token.list.query({ page, page_size, ...asked })).items}
        onOpen={(row) => grid.setOpen(row.id)}
        onEdit={(row) => grid.setEdit(row.id)}
        onCopy={(row) => void actions.copyKey(row)}
        rowActions={rowActions}
        rowButtons={(row) => <ConnectButton name={row.name} onPress={() => grid.setOpen(row.id)} />}
        actionsWidth={84}
        bulkActions={(selection) => [
          {
            id: "copy",
            label: t`复制密钥`,
            icon: Copy,
            onSelect: () => void actions.copyKeys(selection.rows.map((row) => row.id)),
          },
        ]}
        shaded={(row) => row.status !== TOKEN_STATUS.enabled}
        empty={{
          title: t`还没有令牌`,
          description: t`令牌是调用接口的密钥。创建一个，把它填进你的客户端。`,
          action: add,
        }}
      />
      <WhileLoading show={null}>
        {drawerUsed ? (
          <TokenDrawer open={grid.open} edit={grid.edit} onOpen={grid.setOpen} onEdit={grid.setEdit} />
        ) : null}
      </WhileLoading>
    </Page>
  );
}

function ConnectButton({ name, onPress }: { name: string; onPress: () => void }) {
  const { t } = useLingui();
  return (
    <IconButton size="sm" label={t`连接 ${name}`} onClick={onPress}>
      <Zap />
    </IconButton>
  );
}
