import { useLingui } from "@lingui/react/macro";
import { cn } from "../../lib/cn";
import { PASSWORD_MIN } from "../../../shared/user";
import { passwordStrength } from "./password-strength";

const fills = ["bg-line", "bg-red-solid", "bg-orange-solid", "bg-lime-solid", "bg-green-solid"] as const;

/** Four bars and a word that say how strong a password looks. */
export function PasswordMeter({ password }: { password: string }) {
  const { t } = useLingui();
  const strength = passwordStrength(password);
  const words = [t`至少 ${PASSWORD_MIN} 位`, t`弱`, t`一般`, t`良好`, t`强`];
  return (
    <div className="flex items-center gap-2">
      <div aria-hidden className="grid flex-1 grid-cols-4 gap-1">
        {[1, 2, 3, 4].map((bar) => (
          <span key={bar} className={cn("h-1 rounded-sm", bar <= strength ? fills[strength] : "bg-line")} />
        ))}
      </div>
      <span aria-live="polite" className="min-w-16 text-right">
        {words[strength]}
      </span>
    </div>
  );
}
