import { useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { onClipboardFailure } from "../lib/clipboard";
import { Dialog } from "../ui/dialog";
import { Textarea } from "../ui/input";

/** Shows a text that the clipboard refused, selected and ready for Ctrl+C; mounted once in the app. */
export function ClipboardFallback() {
  const { t } = useLingui();
  const [text, setText] = useState<string | null>(null);
  useEffect(() => onClipboardFailure(setText), []);

  return (
    <Dialog
      open={text !== null}
      onOpenChange={(open) => !open && setText(null)}
      title={t`无法复制到剪贴板，请手动复制`}
    >
      <Textarea
        readOnly
        aria-label={t`要复制的文本`}
        value={text ?? ""}
        rows={Math.min(12, (text ?? "").split("\n").length + 1)}
        autoFocus
        onFocus={(event) => event.currentTarget.select()}
        className="mt-2 font-mono wrap-anywhere"
      />
    </Dialog>
  );
}
