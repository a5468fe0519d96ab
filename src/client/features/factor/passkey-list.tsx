import { useLingui } from "@lingui/react/macro";
import { Fingerprint, KeyRound, Pencil, Trash2 } from "lucide-react";
import { useId, useState, type FormEvent } from "react";
import { PASSKEY_NAME_MAX, type PasskeyView } from "../../../shared/factor";
import { confirm } from "../../components/confirm";
import { FieldFrame } from "../../components/form-field";
import { TimeAgo } from "../../components/time-ago";
import { reportError } from "../../lib/errors";
import { toastError, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";
import { BindingRow } from "../personal/binding-row";
import { isBrowserError, passkeysWork, wasCancelled } from "./use-passkey";

/** The account's passkeys, and adding one. */
export function PasskeyList({ passkeys }: { passkeys: readonly PasskeyView[] }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [adding, setAdding] = useState(false);
  const [named, setNamed] = useState<PasskeyView | null>(null);
  const begin = trpc.factor.beginRegistration.useMutation({ meta: { quiet: true } });
  const finish = trpc.factor.finishRegistration.useMutation({ meta: { quiet: true } });
  const changed = () => void utils.factor.status.invalidate();

  const add = async () => {
    setAdding(true);
    try {
      const optionsJSON = await begin.mutateAsync();
      const { startRegistration } = await import("@simplewebauthn/browser");
      const {
        response: { clientDataJSON, attestationObject, transports },
        id,
        rawId,
      } = await startRegistration({ optionsJSON });
      const response = {
        id,
        rawId,
        type: "public-key" as const,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject, transports },
      };
      const made = await finish.mutateAsync({ response });
      toastSuccess(t`通行密钥已添加`);
      changed();
      setNamed(made);
    } catch (error) {
      if (wasCancelled(error)) return;
      if (isBrowserError(error)) toastError(t`此设备的通行密钥已添加，或此浏览器无法在当前地址使用通行密钥`);
      else reportError(error);
    } finally {
      setAdding(false);
    }
  };

  const count = passkeys.length;
  const works = passkeysWork();
  return (
    <>
      <BindingRow
        icon={Fingerprint}
        name={t`通行密钥`}
        bound={!works ? t`此浏览器或地址不支持（需要 HTTPS）` : count === 0 ? t`未添加` : t`${count} 个`}
      >
        <Button disabled={!works} loading={adding} onClick={() => void add()}>{t`添加通行密钥`}</Button>
      </BindingRow>
      {passkeys.map((passkey) => (
        <Row key={passkey.id} passkey={passkey} onRename={() => setNamed(passkey)} onChanged={changed} />
      ))}
      {named ? <RenameDialog passkey={named} onChanged={changed} onClose={() => setNamed(null)} /> : null}
    </>
  );
}

function Row({ passkey, onRename, onChanged }: { passkey: PasskeyView; onRename: () => void; onChanged: () => void }) {
  const { t } = useLingui();
  const name = passkey.name || t`通行密钥 ${passkey.id}`;
  const remove = trpc.factor.removePasskey.useMutation({
    onSuccess: () => toastSuccess(t`通行密钥已删除`),
    onSettled: onChanged,
  });
  const ask = async () => {
    const yes = await confirm({
      title: t`删除「${name}」？`,
      description: t`之后将无法用它登录。设备中保存的密钥需要另行删除。`,
      action: t`删除`,
      danger: true,
    });
    if (yes) remove.mutate({ id: passkey.id });
  };
  return (
    <li aria-label={name} className="flex items-center gap-3 py-2">
      <KeyRound aria-hidden className="ml-1 size-4 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{name}</p>
        <p className="text-xs text-muted">
          {passkey.last_used_at > 0 ? (
            <>
              {t`最近使用`} <TimeAgo value={passkey.last_used_at} />
            </>
          ) : (
            t`尚未使用`
          )}
        </p>
      </div>
      <IconButton label={t`重命名 ${name}`} onClick={onRename}>
        <Pencil />
      </IconButton>
      <IconButton label={t`删除 ${name}`} onClick={() => void ask()}>
        <Trash2 />
      </IconButton>
    </li>
  );
}

function RenameDialog({
  passkey,
  onChanged,
  onClose,
}: {
  passkey: PasskeyView;
  onChanged: () => void;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const id = useId();
  const [name, setName] = useState(passkey.name);
  const [problem, setProblem] = useState<string>();
  const rename = trpc.factor.renamePasskey.useMutation({
    onSuccess: () => {
      onChanged();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rename.isPending) return;
    if (name.trim() === "") setProblem(t`请输入名称`);
    else rename.mutate({ id: passkey.id, name: name.trim() });
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`给通行密钥起个名字`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={`${id}-form`} variant="primary" loading={rename.isPending}>{t`保存`}</Button>
        </>
      }
    >
      <form id={`${id}-form`} noValidate onSubmit={submit} className="mt-3">
        <FieldFrame id={id} label={t`名称`} error={problem}>
          <Input
            id={id}
            value={name}
            autoFocus
            maxLength={PASSKEY_NAME_MAX}
            aria-invalid={problem ? true : undefined}
            aria-describedby={problem ? `${id}-error` : undefined}
            onChange={(event) => setName(event.target.value)}
          />
        </FieldFrame>
      </form>
    </Dialog>
  );
}
