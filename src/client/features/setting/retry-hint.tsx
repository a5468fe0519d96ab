import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { optionFacts } from "../../../shared/option-facts";
import { readStored, writeStored } from "../../lib/storage";
import { Button } from "../../ui/button";
import { useSettings } from "./use-settings";

const DISMISSED = "weir.retry-hint.dismissed";

/** An installation older than fail-over by default still has none: suggests it, until it is set or dismissed. */
export function RetryHint() {
  const { t } = useLingui();
  const { stored, change } = useSettings();
  const [dismissed, setDismissed] = useState(() => readStored(DISMISSED) !== null);
  if (dismissed || stored.values.RetryTimes !== "0") return null;
  const times = optionFacts.RetryTimes.default ?? "";
  const dismiss = () => {
    setDismissed(true);
    writeStored(DISMISSED, "true");
  };
  return (
    <div role="status" className="flex flex-wrap items-center gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
      <span className="flex-1">{t`失败重试次数为 0：一个渠道出错时，不会换用其他渠道。新安装默认为 ${times}。`}</span>
      <Button size="sm" onClick={() => change("RetryTimes", times)}>{t`改为 ${times}`}</Button>
      <Button size="sm" variant="ghost" className="text-current" onClick={dismiss}>{t`不再提示`}</Button>
    </div>
  );
}
