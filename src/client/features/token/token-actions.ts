import { t } from "@lingui/core/macro";
import { useQueryClient } from "@tanstack/react-query";
import { getQueryKey } from "@trpc/react-query";
import type { Page } from "../../../shared/envelope";
import { TOKEN_STATUS, tokenStatus, type TokenView } from "../../../shared/token";
import { confirm } from "../../components/confirm";
import { copyText } from "../../lib/clipboard";
import { toastError, toastSuccess, toastUndo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";

/** Keys are not kept in memory once they were used. */
const NOT_KEPT = { gcTime: 0 } as const;

/** What can be done to a token from its row and from its drawer. Failures are shown by the query client. */
export function useTokenActions() {
  const utils = trpc.useUtils();
  const queries = useQueryClient();
  const settingStatus = trpc.token.setStatus.useMutation();
  const deleting = trpc.token.delete.useMutation();
  const revealing = trpc.token.revealMany.useMutation(NOT_KEPT);
  const { keyOf } = useTokenKey();
  const listKey = getQueryKey(trpc.token.list);
  const getKey = getQueryKey(trpc.token.get);

  /** Sends nothing but the status (C-345); shows it at once, takes it back when the server refuses. */
  const changeStatus = async (id: number, status: number): Promise<boolean> => {
    await Promise.all([queries.cancelQueries({ queryKey: listKey }), queries.cancelQueries({ queryKey: getKey })]);
    const lists = queries.getQueriesData<Page<TokenView>>({ queryKey: listKey });
    const singles = queries.getQueriesData<TokenView>({ queryKey: getKey });
    // An expired or exhausted token stays what it is: the server will say why it cannot be enabled.
    const now = Math.floor(Date.now() / 1000);
    const changed = (row: TokenView): TokenView =>
      row.id === id ? { ...row, status: tokenStatus({ ...row, status }, now) } : row;
    queries.setQueriesData<Page<TokenView>>(
      { queryKey: listKey },
      (page) => page && { ...page, items: page.items.map(changed) },
    );
    queries.setQueriesData<TokenView>({ queryKey: getKey }, (row) => row && changed(row));
    try {
      await settingStatus.mutateAsync({ id, status });
      return true;
    } catch {
      for (const [key, data] of [...lists, ...singles]) queries.setQueryData(key, data);
      return false;
    } finally {
      void utils.token.list.invalidate();
      void utils.token.get.invalidate();
    }
  };

  /** Enables or disables, and offers to undo it for eight seconds. */
  const setEnabled = async ({ id, name, status }: TokenView, enabled: boolean): Promise<void> => {
    const done = await changeStatus(id, enabled ? TOKEN_STATUS.enabled : TOKEN_STATUS.disabled);
    if (!done) return;
    const before = status === TOKEN_STATUS.disabled ? TOKEN_STATUS.disabled : TOKEN_STATUS.enabled;
    toastUndo(enabled ? t`已启用令牌 ${name}` : t`已禁用令牌 ${name}`, () => void changeStatus(id, before));
  };

  const copyKey = async ({ id, name }: Pick<TokenView, "id" | "name">): Promise<void> => {
    const key = await keyOf(id);
    if (key !== null && (await copyText(key))) toastSuccess(t`已复制令牌 ${name} 的密钥`);
  };

  /** One token per line: name, four spaces, sk-key (C-104). */
  const copyKeys = async (ids: readonly number[]): Promise<void> => {
    if (ids.length === 0) {
      toastError(t`请至少选择一个令牌！`);
      return;
    }
    try {
      const keys = await revealing.mutateAsync({ ids: [...ids] });
      const byId = new Map(keys.map((token) => [token.id, token]));
      const lines = ids.flatMap((id) => byId.get(id) ?? []).map((token) => keyLine(token.name, token.key));
      const count = lines.length;
      if (await copyText(lines.join("\n"))) toastSuccess(t`已复制 ${count} 个令牌`);
    } catch {
      // The query client shows the error.
    }
  };

  /** True when it was agreed to and done. */
  const remove = async ({ id, name }: Pick<TokenView, "id" | "name">): Promise<boolean> => {
    const agreed = await confirm({
      title: t`删除令牌 ${name}？`,
      description: t`它的密钥会立即失效，此操作无法撤销。已有的日志会保留。`,
      action: t`删除`,
      danger: true,
    });
    if (!agreed) return false;
    try {
      await deleting.mutateAsync({ id });
      toastSuccess(t`令牌已删除`);
      return true;
    } catch {
      return false;
    } finally {
      void utils.token.list.invalidate();
    }
  };

  return { setEnabled, copyKey, copyKeys, remove };
}

/** Brings the whole key of an own token, with sk-; null when the server refused, which the query client shows. */
export function useTokenKey() {
  const reveal = trpc.token.reveal.useMutation(NOT_KEPT);
  const keyOf = async (id: number): Promise<string | null> => {
    try {
      return (await reveal.mutateAsync({ id })).key;
    } catch {
      return null;
    }
  };
  return { keyOf, busy: reveal.isPending };
}

/** A token in a copied list. */
export const keyLine = (name: string, key: string): string => `${name}    ${key}`;
