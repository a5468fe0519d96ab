import { useLingui } from "@lingui/react/macro";
import { Megaphone, X } from "lucide-react";
import { useState } from "react";
import { OperatorText } from "../../components/operator-content/operator-content";
import { readStored, writeStored } from "../../lib/storage";
import { trpc } from "../../lib/trpc";
import { IconButton } from "../../ui/icon-button";

const READ_KEY = "notice-read";

/** The operator's notice, until the user closes it; a changed text is shown again. */
export function Notice() {
  const { t } = useLingui();
  const { data = "" } = trpc.option.notice.useQuery(undefined, { meta: { quiet: true } });
  const [read, setRead] = useState(() => readStored(READ_KEY));
  const text = data.trim();
  if (text === "" || text === read) return null;
  return (
    <section
      aria-label={t`公告`}
      className="flex items-start gap-3 rounded-lg border border-line bg-surface py-3 pr-2 pl-4"
    >
      <Megaphone aria-hidden className="mt-1.5 size-5 shrink-0 text-accent-text" />
      <OperatorText text={text} demote className="min-w-0 flex-1 py-[5px]" />
      <IconButton
        label={t`关闭公告`}
        onClick={() => {
          writeStored(READ_KEY, text);
          setRead(text);
        }}
      >
        <X />
      </IconButton>
    </section>
  );
}
