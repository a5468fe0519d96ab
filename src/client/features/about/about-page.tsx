import { Trans, useLingui } from "@lingui/react/macro";
import { ErrorPanel } from "../../components/error-panel";
import { OperatorPage, OperatorPageSkeleton } from "../../components/operator-content/operator-content";
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
  return (
    <div className="mx-auto grid w-full max-w-[880px] content-start gap-3 px-4 py-12 sm:px-6">
      <h1 className="text-xl">{t`关于 ${name}`}</h1>
      <p className="max-w-prose text-base text-ink-2">
        <Trans>这里是一个大模型 API 网关：用一个密钥和一个接口地址调用多家模型，每次调用都有准确的账单。</Trans>
      </p>
      <p className="max-w-prose text-base text-ink-2">
        <Trans>站长还没有填写关于内容。可在系统设置的“站点内容”中填写 Markdown、HTML 或一个 https 地址。</Trans>
      </p>
      {version ? (
        <p className="text-muted">
          Weir <span className="font-mono">{version}</span>
        </p>
      ) : null}
    </div>
  );
}
