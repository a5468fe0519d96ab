import { useLingui } from "@lingui/react/macro";
import { useEffect, useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { WhileLoading } from "../../lib/lazy";
import { onStepUp } from "../../lib/step-up";
import { trpc } from "../../lib/trpc";
import { Dialog } from "../../ui/dialog";
import { Skeleton } from "../../ui/skeleton";
import { stepUpMethods } from "./step-up-methods";

/** The dialog of lib/step-up; mounted once in the app. */
export function StepUpHost() {
  const { t } = useLingui();
  const [answer, setAnswer] = useState<((yes: boolean) => void) | null>(null);
  useEffect(() => {
    let unanswered: (yes: boolean) => void = () => {};
    const remove = onStepUp(
      () =>
        new Promise((resolve) => {
          unanswered = resolve;
          setAnswer(() => resolve);
        }),
    );
    return () => {
      remove();
      unanswered(false);
    };
  }, []);
  if (!answer) return null;
  const finish = (yes: boolean) => {
    setAnswer(null);
    answer(yes);
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && finish(false)}
      title={t`验证身份`}
      description={t`这项操作涉及机密信息，请确认是您本人。验证在 10 分钟内有效。`}
    >
      <div className="mt-4">
        <Methods onVerified={() => finish(true)} />
      </div>
    </Dialog>
  );
}

function Methods({ onVerified }: { onVerified: () => void }) {
  const { t } = useLingui();
  const offered = trpc.auth.stepUpMethods.useQuery(undefined, { meta: { quiet: true }, staleTime: 0 });
  if (offered.error) return <ErrorPanel error={offered.error} onRetry={() => void offered.refetch()} />;
  if (!offered.data) return <Skeleton className="h-16" />;
  const usable = stepUpMethods.filter(({ id }) => offered.data.includes(id));
  if (usable.length === 0) return <p>{t`此账户没有密码。请退出后重新登录，并在 10 分钟内完成操作。`}</p>;
  return (
    <div className="grid gap-4 divide-y divide-line">
      {usable.map(({ id, component: Method }) => (
        <WhileLoading key={id} show={<Skeleton className="h-16" />}>
          <Method onVerified={onVerified} />
        </WhileLoading>
      ))}
    </div>
  );
}
