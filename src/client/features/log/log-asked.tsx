import { useLingui } from "@lingui/react/macro";
import { PASSED_REASONS } from "../../../shared/virtual-models";
import { currentLanguage } from "../../lib/i18n";
import type { LogDetails } from "./log-details";

/** A call to a virtual model: the name that was asked for, and why its earlier steps did not answer. */
export function AskedModel({ details: { asked_model, passed_steps = [] } }: { details: LogDetails }) {
  const { t } = useLingui();
  return (
    <span className="grid gap-0.5">
      <span className="font-mono text-xs wrap-anywhere">{asked_model}</span>
      {passed_steps.map(({ model, why }) => {
        const reason =
          (Object.hasOwn(PASSED_REASONS, why) ? PASSED_REASONS[why] : undefined)?.[currentLanguage()] ?? why;
        return <span key={model} className="text-xs text-muted wrap-anywhere">{t`${model} 未应答：${reason}`}</span>;
      })}
    </span>
  );
}
