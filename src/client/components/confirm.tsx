import { useLingui } from "@lingui/react/macro";
import { useEffect, useId, useState } from "react";
import { AlertDialog } from "../ui/alert-dialog";
import { Button } from "../ui/button";
import { Input } from "../ui/input";
import { Label } from "../ui/label";

export interface ConfirmQuestion {
  title: string;
  description?: string;
  /** Word on the button that does it; "确定" when absent. */
  action?: string;
  /** Red button: what follows cannot be undone. */
  danger?: boolean;
  /** Must be typed before the button works, for what can never be brought back. */
  typeToConfirm?: string;
}

type Pending = { question: ConfirmQuestion; answer: (yes: boolean) => void };
let ask: ((pending: Pending) => void) | null = null;

/** Asks the user; resolves to true when they agreed. Reversible actions ask nothing: act and offer undo (lib/toast). */
export function confirm(question: ConfirmQuestion): Promise<boolean> {
  return new Promise((resolve) => {
    if (ask) ask({ question, answer: resolve });
    else resolve(false);
  });
}

/** Shows the questions of `confirm`; mounted once in the app. */
export function ConfirmHost() {
  const { t } = useLingui();
  const inputId = useId();
  const [pending, setPending] = useState<Pending | null>(null);
  const [typed, setTyped] = useState("");

  useEffect(() => {
    ask = (next) => {
      setTyped("");
      setPending((current) => {
        current?.answer(false);
        return next;
      });
    };
    return () => {
      ask = null;
    };
  }, []);

  if (!pending) return null;
  const { question } = pending;
  const answer = (yes: boolean) => {
    pending.answer(yes);
    setPending(null);
  };
  const ready = !question.typeToConfirm || typed === question.typeToConfirm;

  return (
    <AlertDialog
      open
      onOpenChange={(open) => !open && answer(false)}
      title={question.title}
      description={question.description}
      cancel={<Button>{t`取消`}</Button>}
      action={
        <Button variant={question.danger ? "danger" : "primary"} disabled={!ready} onClick={() => answer(true)}>
          {question.action ?? t`确定`}
        </Button>
      }
    >
      {question.typeToConfirm ? (
        <div className="grid gap-1">
          <Label htmlFor={inputId}>{t`输入 ${question.typeToConfirm} 以确认`}</Label>
          <Input id={inputId} value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
        </div>
      ) : null}
    </AlertDialog>
  );
}
