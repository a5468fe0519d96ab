import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useId } from "react";
import { FormStack } from "../../components/form-field";
import { useOnce } from "../../lib/once";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";

interface FormDialogProps {
  title: string;
  description: string;
  /** What the button does. */
  action: string;
  pending: boolean;
  onSubmit: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog that is a form: a few fields, cancel, and one action that Enter takes too. */
export function FormDialog({ title, description, action, pending, onSubmit, onClose, children }: FormDialogProps) {
  const { t } = useLingui();
  const form = useId();
  const submit = useOnce(onSubmit);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={form} variant="primary" loading={pending}>
            {action}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate
        className="mt-3"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <FormStack>{children}</FormStack>
      </form>
    </Dialog>
  );
}
