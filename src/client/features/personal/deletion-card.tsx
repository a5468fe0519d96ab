import { useLingui } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { navigate } from "wouter/use-browser-location";
import { ROLE } from "../../../shared/roles";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { clearUser, useHasRole } from "../../lib/session";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";

/** Deletes the account; not offered to super administrators. */
export default function DeletionCard() {
  const { t } = useLingui();
  const root = useHasRole(ROLE.root);
  const [open, setOpen] = useState(false);
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  const username = self.data?.username;
  return (
    <Card>
      <CardHeader
        title={t`删除账户`}
        description={
          root ? t`超级管理员不能删除自己的账户。` : t`余额、令牌和登录立即失效，无法恢复；用户名不能再次使用。`
        }
      />
      <CardBody>
        <Button
          variant="danger"
          disabled={root || username === undefined}
          onClick={() => setOpen(true)}
        >{t`删除我的账户`}</Button>
        {open && username !== undefined ? <DeletionDialog username={username} onClose={() => setOpen(false)} /> : null}
      </CardBody>
    </Card>
  );
}

function DeletionDialog({ username, onClose }: { username: string; onClose: () => void }) {
  const { t } = useLingui();
  const queries = useQueryClient();
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<string>();
  const deleting = trpc.user.deleteSelf.useMutation({
    meta: { quiet: true },
    onSuccess: () => {
      toastSuccess(t`账户已删除！`);
      clearUser();
      queries.clear();
      navigate("/login");
    },
    onError: (error) => setProblem(faultOf(error).message),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (deleting.isPending) return;
    if (typed !== username) return setProblem(t`请输入你的账户名以确认删除！`);
    setProblem(undefined);
    deleting.mutate();
  };
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={t`删除账户`}
      description={t`您正在删除自己的账户，所有数据将被清空且不可恢复。`}
    >
      <form noValidate onSubmit={submit} className="mt-4 grid gap-4">
        <FieldFrame id="delete-username" label={t`输入你的账户名 ${username} 以确认删除`} error={problem}>
          <Input
            id="delete-username"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={typed}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? "delete-username-error" : undefined}
            onChange={(event) => {
              setTyped(event.currentTarget.value);
              setProblem(undefined);
            }}
          />
        </FieldFrame>
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" variant="danger" loading={deleting.isPending}>{t`确认删除`}</Button>
        </div>
      </form>
    </Dialog>
  );
}
