import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Redirect } from "wouter";
import { ROLE } from "../../../shared/roles";
import { ErrorPanel } from "../../components/error-panel";
import { faultOf } from "../../lib/errors";
import { lazy, WhileLoading } from "../../lib/lazy";
import { loginPath } from "../../lib/login-path";
import { storeUser, useUser } from "../../lib/session";
import { loadStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { Skeleton } from "../../ui/skeleton";
import { AccountStep, type Account } from "./account-step";
import { keepDraft, startingDraft } from "./draft";
import { PurposeStep } from "./purpose-step";
import { codeOfLink, forgetLink } from "./setup-link";

const ChannelStep = lazy(() => import("./channel-step"));
const ConnectStep = lazy(() => import("./connect-step"));

/**
 * `/setup`, the first run. The step is derived from the server's state, so a reload continues where the user was:
 * without root account at the account, then at the first channel, then at the
 * connection.
 */
export default function SetupPage() {
  const user = useUser();
  const [code] = useState(codeOfLink);
  useEffect(forgetLink, []);
  const setup = trpc.setup.status.useQuery(undefined, { staleTime: 0, meta: { quiet: true } });

  if (setup.error) return <ErrorPanel error={setup.error} onRetry={() => void setup.refetch()} />;
  if (!setup.data) return <WizardSkeleton />;
  if (!setup.data.status) {
    return <CreateRoot sqlite={setup.data.database_type === "sqlite"} linkCode={code} />;
  }
  if (!user) return <Redirect to={loginPath({ pathname: "/setup", search: "" })} replace />;
  if (user.role < ROLE.root) return <Redirect to="/" replace />;
  return (
    <WhileLoading show={<WizardSkeleton />}>
      <FirstUse />
    </WhileLoading>
  );
}

/** Steps 1 and 2: nothing is stored on the server before both are filled in. */
function CreateRoot({ sqlite, linkCode }: { sqlite: boolean; linkCode: string }) {
  const queries = useQueryClient();
  const [draft, setDraft] = useState(startingDraft);
  const [account, setAccount] = useState<Account>(() => ({
    username: draft.username,
    password: "",
    repeat: "",
    code: linkCode,
  }));
  const [step, setStep] = useState<"account" | "purpose">("account");
  const [asksCode, setAsksCode] = useState(linkCode === "");
  const [codeRefused, setCodeRefused] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  // While the account is typed.
  useEffect(() => ChannelStep.preload(), []);
  const change = (part: Partial<typeof draft>) => {
    const next = { ...draft, ...part };
    setDraft(next);
    keepDraft(next);
  };

  const run = trpc.setup.run.useMutation({
    meta: { quiet: true },
    onSuccess: async (user) => {
      keepDraft(null);
      storeUser(user);
      await loadStatus();
      await queries.invalidateQueries();
    },
    onError: (error) => {
      if (error.data?.app === "setup_code_wrong") {
        setAsksCode(true);
        setCodeRefused(true);
        setStep("account");
      } else if (error.data?.app === "setup_done") {
        // Another browser finished the set-up first: the server's state decides what is shown.
        void loadStatus();
        void queries.invalidateQueries();
      } else setProblem(faultOf(error).message);
    },
  });

  if (step === "account") {
    return (
      <AccountStep
        start={account}
        asksCode={asksCode}
        codeRefused={codeRefused}
        onDone={(next) => {
          setAccount(next);
          setCodeRefused(false);
          change({ username: next.username });
          setStep("purpose");
        }}
      />
    );
  }
  return (
    <PurposeStep
      start={draft}
      sqlite={sqlite}
      busy={run.isPending}
      problem={problem}
      onChange={change}
      onBack={() => setStep("account")}
      onDone={({ mode, server_address }) => {
        setProblem(null);
        const { username, password, repeat, code } = account;
        run.mutate({ username, password, confirmPassword: repeat, code, mode, server_address });
      }}
    />
  );
}

/** Step 3 and the connection. */
function FirstUse() {
  const channels = trpc.channel.list.useQuery({ page: 1, page_size: 1 }, { meta: { quiet: true } });
  const utils = trpc.useUtils();
  const [later, setLater] = useState(false);
  useEffect(() => ConnectStep.preload(), []);

  if (channels.error) return <ErrorPanel error={channels.error} onRetry={() => void channels.refetch()} />;
  if (!channels.data) return <WizardSkeleton />;
  if (channels.data.total === 0 && !later) {
    return <ChannelStep onDone={() => void utils.channel.invalidate()} onLater={() => setLater(true)} />;
  }
  return <ConnectStep hasChannel={channels.data.total > 0} onBack={() => setLater(false)} />;
}

function WizardSkeleton() {
  return (
    <div className="mx-auto grid w-full max-w-[720px] gap-6 px-4 py-10">
      <Skeleton className="h-6" />
      <Skeleton className="h-72" />
    </div>
  );
}
