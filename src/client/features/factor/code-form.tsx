import { useLingui } from "@lingui/react/macro";
import { useEffect, useId, useRef, useState, type FormEvent } from "react";
import { FieldFrame } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";

interface CodeFormProps {
  /** The word on the button. */
  action: string;
  hint?: string;
  pending: boolean;
  /** What the server said of the last code. */
  problem: string | undefined;
  danger?: boolean;
  onCode: (code: string) => void;
}

/** A one-time or recovery code. The field is ready for another try after a wrong one. */
export function CodeForm({ action, hint, pending, problem, danger, onCode }: CodeFormProps) {
  const { t } = useLingui();
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [missing, setMissing] = useState<string>();
  const shown = missing ?? problem;
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (problem) input.current?.select();
  }, [problem]);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const code = input.current?.value.trim() ?? "";
    setMissing(code === "" ? t`请输入验证码！` : undefined);
    if (code !== "" && !pending) onCode(code);
  };

  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <FieldFrame id={id} label={t`验证码`} hint={hint} error={shown}>
        <Input
          id={id}
          ref={input}
          name="code"
          autoComplete="one-time-code"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={60}
          className="font-mono"
          aria-invalid={shown ? true : undefined}
          aria-describedby={[hint ? `${id}-hint` : "", shown ? `${id}-error` : ""].join(" ").trim() || undefined}
        />
      </FieldFrame>
      <Button type="submit" variant={danger ? "danger" : "primary"} loading={pending} className="justify-self-end">
        {action}
      </Button>
    </form>
  );
}
