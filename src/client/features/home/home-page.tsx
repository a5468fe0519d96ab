import { useLingui } from "@lingui/react/macro";
import { ArrowRight, Gauge, ReceiptText, Route } from "lucide-react";
import { Link } from "wouter";
import { OperatorPage, OperatorPageSkeleton } from "../../components/operator-content/operator-content";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";
import { consoleHome } from "../../paths";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Skeleton } from "../../ui/skeleton";
import { Notice } from "./notice";

/** Prices and bills come after the page. */
const Offer = lazy(() => import("./offer"));

/** The home page: the operator's content if there is any, else the default; the operator's notice is above either. */
export default function HomePage() {
  const { t } = useLingui();
  const own = trpc.option.homePage.useQuery(undefined, { meta: { quiet: true } });
  // The default also when the operator's cannot be loaded: it has nothing that could fail.
  if (own.data === undefined && !own.error) return <OperatorPageSkeleton />;
  const text = own.data?.trim() ?? "";
  return (
    <>
      <div className="mx-auto w-full max-w-[880px] px-4 pt-6 empty:hidden sm:px-6">
        <Notice />
      </div>
      {text ? <OperatorPage text={text} title={t`首页`} /> : <BuiltInHome />}
    </>
  );
}

/** What the service is, a link to sign in, the base URL for API clients, and what a call looks like and costs. */
function BuiltInHome() {
  const { t } = useLingui();
  const status = useStatus();
  const user = useUser();
  const name = status.system_name || "Weir";
  const baseUrl = `${(status.server_address || location.origin).replace(/\/+$/, "")}/v1`;
  const inside = user ? consoleHome(user.role) : null;

  const points = [
    { icon: Route, title: t`一个接口，所有模型`, text: t`按优先级与权重在渠道间路由，失败时自动换一条路。` },
    { icon: ReceiptText, title: t`每一分钱都算得清`, text: t`每次调用都有精确到单位的账单，每个系数都能点开。` },
    { icon: Gauge, title: t`看得见的健康状况`, text: t`每次尝试、耗时与错误都留有记录，原因一目了然。` },
  ];

  return (
    <div className="mx-auto flex w-full max-w-[880px] flex-1 flex-col justify-center gap-10 px-4 py-12 sm:px-6">
      <div className="grid gap-4">
        <h1 className="text-xl">{name}</h1>
        <p className="max-w-prose text-md font-normal text-ink-2">
          {t`统一接入、计量与计费的大模型 API 网关。把客户端的接口地址换成下面这个，其余照旧。`}
        </p>
        <div className="flex flex-wrap items-center gap-3">
          <div className="flex h-10 max-w-full min-w-0 items-center gap-1 rounded-md border border-line-control bg-surface pr-1 pl-3">
            <span className="shrink-0 text-muted">{t`接口地址`}</span>
            <code className="ml-2 truncate font-mono text-sm">{baseUrl}</code>
            <CopyButton text={baseUrl} label={t`复制接口地址`} />
          </div>
          {inside ? (
            <Button asChild variant="primary" size="lg">
              <Link href={inside}>
                {t`进入控制台`}
                <ArrowRight aria-hidden />
              </Link>
            </Button>
          ) : null}
          {!user ? (
            <Button asChild variant="primary" size="lg">
              <Link href="/login">
                {t`登录`}
                <ArrowRight aria-hidden />
              </Link>
            </Button>
          ) : null}
        </div>
      </div>
      <WhileLoading show={<Skeleton className="h-[417px]" />}>
        <Offer baseUrl={baseUrl} />
      </WhileLoading>
      <ul className="grid gap-px overflow-hidden rounded-lg border border-line bg-line sm:grid-cols-3">
        {points.map(({ icon: Icon, title, text }) => (
          <li key={title} className="grid content-start gap-1.5 bg-surface p-5">
            <Icon aria-hidden className="size-5 text-accent-text" />
            <h2 className="text-base font-medium">{title}</h2>
            <p className="text-muted">{text}</p>
          </li>
        ))}
      </ul>
    </div>
  );
}
