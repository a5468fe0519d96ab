import { useLingui } from "@lingui/react/macro";
import { GitBranch, Pencil } from "lucide-react";
import { useState } from "react";
import { cn } from "../../lib/cn";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { IconButton } from "../../ui/icon-button";
import { Textarea } from "../../ui/input";
import { AnswerView } from "./answer-view";
import type { Turn } from "./conversation";
import type { Playground } from "./use-playground";

/** What the user said, and the answers side by side. */
export function TurnView({ turn, playground }: { turn: Turn; playground: Playground }) {
  const { t } = useLingui();
  const [draft, setDraft] = useState<string | null>(null);
  const send = () => {
    if (draft === null || (draft.trim() === "" && turn.images.length === 0)) return;
    playground.edit(turn, draft);
    setDraft(null);
  };
  return (
    <section className="grid gap-2">
      <div className="ml-auto grid max-w-full justify-items-end gap-1 sm:max-w-[85%]">
        {draft === null ? (
          <div className="rounded-lg bg-accent-soft px-3 py-2">
            {turn.images.length > 0 ? (
              <div className="mb-1 flex flex-wrap gap-2">
                {turn.images.map((image, index) => (
                  <img key={index} src={image} alt={t`附图 ${index + 1}`} className="max-h-40 max-w-full rounded-md" />
                ))}
              </div>
            ) : null}
            <p className="text-base whitespace-pre-wrap wrap-anywhere">{turn.text}</p>
          </div>
        ) : (
          <form
            className="grid w-[min(36rem,80vw)] gap-2"
            onSubmit={(event) => {
              event.preventDefault();
              send();
            }}
          >
            <Textarea
              autoFocus
              aria-label={t`编辑消息`}
              value={draft}
              onChange={(event) => setDraft(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Escape") setDraft(null);
                if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
              }}
            />
            <p className="text-xs text-muted">{t`重新发送后，这条消息之后的内容会被移除。`}</p>
            <div className="flex justify-end gap-2">
              <Button onClick={() => setDraft(null)}>{t`取消`}</Button>
              <Button variant="primary" type="submit">{t`重新发送`}</Button>
            </div>
          </form>
        )}
        {draft === null ? (
          <div className="flex">
            <CopyButton text={turn.text} label={t`复制消息`} />
            <IconButton size="sm" label={t`编辑消息`} onClick={() => setDraft(turn.text)}>
              <Pencil />
            </IconButton>
            <IconButton size="sm" label={t`从这里另开对话`} onClick={() => playground.branch(turn)}>
              <GitBranch />
            </IconButton>
          </div>
        ) : null}
      </div>
      <div
        className={cn(
          "grid gap-2",
          turn.answers.length === 2 && "md:grid-cols-2",
          turn.answers.length > 2 && "md:grid-cols-3",
        )}
      >
        {turn.answers.map((answer, lane) => (
          <AnswerView
            key={answer.id}
            answer={answer}
            running={playground.isRunning(answer.id)}
            onRetry={() => playground.regenerate(turn, lane)}
          />
        ))}
      </div>
    </section>
  );
}
