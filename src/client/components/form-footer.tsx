import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Button } from "../ui/button";
import { Kbd } from "../ui/kbd";

type FormFooterProps = {
  /** Id of the form that is saved. */
  formId: string;
  /** The form is of something that is there already. */
  stored: boolean;
  saving: boolean;
  onCancel: () => void;
  /** What would change. */
  children: ReactNode;
};

/** The foot of a form that Ctrl+Enter saves: cancel and save. */
export function FormFooter({ formId, stored, saving, onCancel, children }: FormFooterProps) {
  const { t } = useLingui();
  return (
    <>
      {children}
      <Button onClick={onCancel}>{t`取消`}</Button>
      <Button type="submit" form={formId} variant="primary" loading={saving} aria-keyshortcuts="Control+Enter">
        {stored ? t`保存` : t`创建`}
        <Kbd className="border-current bg-transparent text-current max-sm:hidden pointer-coarse:hidden">
          {navigator.userAgent.includes("Mac") ? "⌘ ↵" : "Ctrl ↵"}
        </Kbd>
      </Button>
    </>
  );
}
