import { useLingui } from "@lingui/react/macro";
import { TriangleAlert } from "lucide-react";
import { useId, useState } from "react";
import type { InstanceView } from "../../../shared/drain";
import { FieldFrame } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { Select } from "../../ui/select";

/** Asks how long the calls that run may take. `lone`: no other instance takes new calls. */
export function DrainDialog({
  instance,
  lone,
  pending,
  onClose,
  onDrain,
}: {
  instance: InstanceView;
  lone: boolean;
  pending: boolean;
  onClose: () => void;
  onDrain: (seconds: number) => void;
}) {
  const { t } = useLingui();
  const field = useId();
  const { id } = instance;
  const [seconds, setSeconds] = useState("600");
  const limits = [
    { value: "0", label: t`不限` },
    { value: "60", label: t`1 分钟` },
    { value: "600", label: t`10 分钟` },
    { value: "3600", label: t`1 小时` },
  ];
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`排空实例`}
      description={t`${id} 不再接受新请求，/readyz 返回 503；进行中的请求照常完成，进程重启后恢复服务。`}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button variant="primary" loading={pending} onClick={() => onDrain(Number(seconds))}>{t`开始排空`}</Button>
        </>
      }
    >
      <div className="grid gap-3 pt-3">
        {lone ? (
          <p role="alert" className="flex gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {t`没有其他实例在服务：排空期间所有新请求都会得到 503。`}
          </p>
        ) : null}
        <FieldFrame id={field} label={t`进行中的请求最多再运行`}>
          <Select id={field} className="w-full" value={seconds} onValueChange={setSeconds} options={limits} />
        </FieldFrame>
      </div>
    </Dialog>
  );
}
