import { ErrorPanel } from "../../components/error-panel";
import { Button } from "../../ui/button";

/** A button that tries what a card holds, and how it went. */
export function TrialRow({
  action,
  hint,
  disabled,
  pending,
  error,
  failure,
  success,
  onTry,
}: {
  action: string;
  hint: string;
  disabled: boolean;
  pending: boolean;
  /** The server was not reached, or refused. */
  error: unknown;
  failure: string | undefined;
  success: string | undefined;
  onTry: () => void;
}) {
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-3">
        <Button disabled={disabled} loading={pending} onClick={onTry}>
          {action}
        </Button>
        <p className="min-w-0 flex-1 basis-60 text-xs text-muted">{hint}</p>
      </div>
      <div aria-live="polite" className="wrap-anywhere empty:hidden">
        {error ? <ErrorPanel error={error} onRetry={onTry} /> : null}
        {failure ? <p className="text-red-fg">{failure}</p> : null}
        {success ? <p className="text-green-fg">{success}</p> : null}
      </div>
    </div>
  );
}
