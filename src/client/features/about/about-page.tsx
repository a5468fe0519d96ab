import { Trans, useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import { ROLE } from "../../../shared/roles";
import { ErrorPanel } from "../../components/error-panel";
import { OperatorPage, OperatorPageSkeleton } from "../../components/operator-content/operator-content";
import { useHasRole } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { trpc } from "../../lib/trpc";

/** The operator's text about the service; a default text when there is none. */
export default function AboutPage() {
  const { t } = useLingui();
  const about = trpc.option.about.useQuery(undefined, { meta: { quiet: true } });
  if (about.data === undefined) {
    return about.error ? (
      <ErrorPanel error={about.error} onRetry={() => void about.refetch()} />
    ) : (
      <OperatorPageSkeleton />
    );
  }
  return about.data.trim() === "" ? <BuiltInAbout /> : <OperatorPage text={about.data} title={t`关于`} />;
}

function BuiltInAbout() {
  const { t } = useLingui();
  const { system_name, version } = useStatus();
  const name = system_name || "Weir";
  // Only who can change it is told where.
  const root = useHasRole(ROLE.root);
  return (
    <div className="mx-auto grid w-full max-w-[880px] content-start gap-3 px-4 py-12 sm:px-6">
      <h1 className="text-xl">{t`关于 ${name}`}</h1>
      <p className="max-w-prose text-base text-ink-2">
        <Trans>这里是一个大模型 API 网关：用一个密钥和一个接口地址调用多家模型，每次调用都有准确的账单。</Trans>
      </p>
      <p className="max-w-prose text-base text-ink-2">
        <Trans>价格、可用的模型和接口文档对所有人公开。</Trans>{" "}
        <Link href="/pricing" className="text-accent-text underline underline-offset-4">{t`查看价格`}</Link>
        {" · "}
        <a href="/docs" className="text-accent-text underline underline-offset-4">{t`接口文档`}</a>
      </p>
      {root ? (
        <p className="max-w-prose rounded-lg bg-sunken px-3 py-2 text-ink-2">
          <Trans>关于内容可在系统设置的“站点内容”中填写：Markdown、HTML 或一个 https 地址。</Trans>
        </p>
      ) : null}
      {version ? (
        <p className="text-muted">
          Weir <span className="font-mono">{version}</span>
        </p>
      ) : null}
    </div>
  );
}
