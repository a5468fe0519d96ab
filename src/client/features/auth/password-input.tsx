import { useLingui } from "@lingui/react/macro";
import { ArrowBigUp, Eye, EyeOff } from "lucide-react";
import { useState, type ComponentProps, type KeyboardEvent } from "react";
import { cn } from "../../lib/cn";
import { IconButton } from "../../ui/icon-button";
import { Input } from "../../ui/input";

/** A password field that can show what was typed and warns when Caps Lock is on. */
export function PasswordInput({
  className,
  onKeyDown,
  onKeyUp,
  onBlur,
  ...props
}: Omit<ComponentProps<"input">, "type">) {
  const { t } = useLingui();
  const [shown, setShown] = useState(false);
  const [capsLock, setCapsLock] = useState(false);
  const watchCapsLock = (event: KeyboardEvent) => setCapsLock(event.getModifierState("CapsLock"));

  return (
    <div className="grid gap-1">
      <div className="relative">
        <Input
          type={shown ? "text" : "password"}
          autoCapitalize="none"
          autoCorrect="off"
          spellCheck={false}
          onKeyDown={(event) => {
            watchCapsLock(event);
            onKeyDown?.(event);
          }}
          onKeyUp={(event) => {
            watchCapsLock(event);
            onKeyUp?.(event);
          }}
          onBlur={(event) => {
            setCapsLock(false);
            onBlur?.(event);
          }}
          className={cn("pr-10 pointer-coarse:pr-12", className)}
          {...props}
        />
        <IconButton
          size="sm"
          label={shown ? t`隐藏密码` : t`显示密码`}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
          className="absolute top-1/2 right-0.5 -translate-y-1/2"
        >
          {shown ? <EyeOff /> : <Eye />}
        </IconButton>
      </div>
      <p role="status" className="flex items-center gap-1 text-xs text-yellow-fg empty:hidden">
        {capsLock ? (
          <>
            <ArrowBigUp aria-hidden className="size-3.5" />
            {t`大写锁定已打开`}
          </>
        ) : null}
      </p>
    </div>
  );
}
