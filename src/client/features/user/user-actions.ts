import { t } from "@lingui/core/macro";
import { useQueryClient } from "@tanstack/react-query";
import { getQueryKey } from "@trpc/react-query";
import type { Page } from "../../../shared/envelope";
import { errorText } from "../../../shared/errors";
import { type ManageAction, mayActOn, type UserAction } from "../../../shared/roles";
import type { ManagedUser } from "../../../shared/user-manage";
import { confirm } from "../../components/confirm";
import { currentLanguage } from "../../lib/i18n";
import { useUser } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { exportLines, saveFile } from "./user-export";

/** Why the signed-in administrator may not do this, as text; undefined when they may. */
export function useRefusal(): (user: ManagedUser, action: UserAction) => string | undefined {
  const me = useUser();
  return (user, action) => {
    const target = { id: user.id, role: user.role, status: user.status, deleted: user.DeletedAt !== null };
    const code = mayActOn(me ?? { id: 0, role: 0 }, target, action);
    return code && errorText(code, {}, currentLanguage());
  };
}

/** What can be done to an account from its row and its drawer. Failures are shown by the query client. */
export function useUserActions() {
  const utils = trpc.useUtils();
  const queries = useQueryClient();
  const managing = trpc.user.manage.useMutation();
  const exporting = trpc.user.export.useMutation({ gcTime: 0 });
  const erasing = trpc.user.erase.useMutation();
  const listKey = getQueryKey(trpc.user.list);

  /** The row takes what the server answered; the list is not read again. */
  const adopt = (user: ManagedUser) => {
    queries.setQueriesData<Page<ManagedUser>>(
      { queryKey: listKey },
      (page) => page && { ...page, items: page.items.map((row) => (row.id === user.id ? user : row)) },
    );
    void utils.user.get.invalidate({ id: user.id });
  };

  const manage = async ({ id, username }: ManagedUser, action: ManageAction): Promise<boolean> => {
    if (action === "delete") {
      const agreed = await confirm({
        title: t`删除用户 ${username}？`,
        description: t`此操作无法撤销：登录和令牌立即失效，用户名不能再次使用，日志会保留。`,
        action: t`删除`,
        danger: true,
        typeToConfirm: username,
      });
      if (!agreed) return false;
    }
    try {
      adopt(await managing.mutateAsync({ id, action }));
      toastSuccess(t`操作成功完成！`);
      return true;
    } catch {
      return false;
    }
  };

  /** A file with all that is known of an account, one JSON object a line. */
  const download = async ({ id, username }: ManagedUser): Promise<void> => {
    try {
      const lines = await exportLines((cursor) =>
        exporting.mutateAsync(cursor === undefined ? { id } : { id, cursor }),
      );
      saveFile(`user-${id}.jsonl`, lines);
      toastSuccess(t`已导出用户 ${username} 的数据`);
    } catch {
      // The query client shows the error.
    }
  };

  const erase = async ({ id, username }: ManagedUser): Promise<boolean> => {
    const agreed = await confirm({
      title: t`清除用户 ${username} 的个人数据？`,
      description: t`此操作无法撤销：账户会被删除，姓名、邮箱、绑定、文件以及日志中的姓名和地址会被永久清除；金额记录会保留。`,
      action: t`永久清除`,
      danger: true,
      typeToConfirm: username,
    });
    if (!agreed) return false;
    try {
      await erasing.mutateAsync({ id });
      toastSuccess(t`个人数据已清除`);
      return true;
    } catch {
      return false;
    } finally {
      void utils.user.invalidate();
    }
  };

  return { manage, download, erase, adopt };
}
