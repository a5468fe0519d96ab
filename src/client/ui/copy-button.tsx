import { useLingui } from "@lingui/react/macro";
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "../lib/clipboard";
import { IconButton } from "./icon-button";

type CopyButtonProps = {
  /** The text, or a function that brings it (a key that must be asked for first). */
  text: string | (() => Promise<string>);
  label?: string;
  className?: string;
};

/** Copies and says so by a tick for two seconds; when the clipboard refuses, the text is shown in a dialog. */
export function CopyButton({ text, label, className }: CopyButtonProps) {
  const { t } = useLingui();
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <>
      <IconButton
        size="sm"
        label={copied ? t`已复制` : (label ?? t`复制`)}
        className={className}
        onClick={async () => setCopied(await copyText(typeof text === "string" ? text : await text()))}
      >
        {copied ? <Check className="text-green-fg" /> : <Copy />}
      </IconButton>
      <span role="status" className="sr-only">
        {copied ? t`已复制` : ""}
      </span>
    </>
  );
}
