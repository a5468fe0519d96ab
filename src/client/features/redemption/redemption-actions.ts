import { t } from "@lingui/core/macro";
import { REDEMPTION_STATUS, type RedemptionView } from "../../../shared/redemption";
import { confirm } from "../../components/confirm";
import { copyText } from "../../lib/clipboard";
import { toastError, toastSuccess, toastUndo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";

/** What can be done to codes from the list. Failures are shown by the query client. */
export function useRedemptionActions() {
  const utils = trpc.useUtils();
  const settingStatus = trpc.redemption.setStatus.useMutation();
  const deleting = trpc.redemption.delete.useMutation();
  const deletingInvalid = trpc.redemption.deleteInvalid.useMutation();
  const refresh = () => void utils.redemption.invalidate();

  const changeStatus = async (id: number, status: number): Promise<boolean> => {
    try {
      await settingStatus.mutateAsync({ id, status });
      return true;
    } catch {
      return false;
    } finally {
      refresh();
    }
  };

  const setEnabled = async ({ id, name, status }: RedemptionView, enabled: boolean): Promise<void> => {
    if (!(await changeStatus(id, enabled ? REDEMPTION_STATUS.unused : REDEMPTION_STATUS.disabled))) return;
    toastUndo(enabled ? t`已启用兑换码 ${name}` : t`已禁用兑换码 ${name}`, () => void changeStatus(id, status));
  };

  const copyKey = async ({ key, name }: RedemptionView): Promise<void> => {
    if (await copyText(key)) toastSuccess(t`已复制兑换码 ${name}`);
  };

  /** One code per line: name, four spaces, code (C-123). */
  const copyKeys = async (rows: readonly RedemptionView[]): Promise<void> => {
    const count = rows.length;
    if (count === 0) {
      toastError(t`请至少选择一个兑换码！`);
      return;
    }
    if (await copyText(rows.map(({ name, key }) => `${name}    ${key}`).join("\n")))
      toastSuccess(t`已复制 ${count} 个兑换码`);
  };

  /** True when it was agreed to and done. */
  const remove = async ({ id, name }: RedemptionView): Promise<boolean> => {
    const agreed = await confirm({
      title: t`删除兑换码 ${name}？`,
      description: t`未使用的兑换码将立即失效，此操作无法撤销。`,
      action: t`删除`,
      danger: true,
    });
    if (!agreed) return false;
    try {
      await deleting.mutateAsync({ id });
      toastSuccess(t`兑换码已删除`);
      return true;
    } catch {
      return false;
    } finally {
      refresh();
    }
  };

  const removeInvalid = async (): Promise<void> => {
    const agreed = await confirm({
      title: t`删除失效的兑换码？`,
      description: t`已使用、已禁用和已过期的兑换码都会从列表中删除，此操作无法撤销。`,
      action: t`删除`,
      danger: true,
    });
    if (!agreed) return;
    try {
      const count = await deletingInvalid.mutateAsync();
      toastSuccess(t`已删除 ${count} 个失效的兑换码`);
    } catch {
      // The query client shows the error.
    } finally {
      refresh();
    }
  };

  return { setEnabled, copyKey, copyKeys, remove, removeInvalid };
}

/** What a row offers besides view, copy and delete: a used code stays what it is (C-128, C-353, C-354). */
export const offeredFor = ({ status }: Pick<RedemptionView, "status">) => ({
  edit: status === REDEMPTION_STATUS.unused,
  disable: status === REDEMPTION_STATUS.unused,
  enable: status === REDEMPTION_STATUS.disabled,
});
