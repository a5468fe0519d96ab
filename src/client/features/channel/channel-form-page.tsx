import { useLingui } from "@lingui/react/macro";
import { ArrowLeft } from "lucide-react";
import { Link, useLocation } from "wouter";
import type { ChannelView } from "../../../shared/channel";
import { ErrorPanel } from "../../components/error-panel";
import { Page } from "../../components/page";
import { toastInfo } from "../../lib/toast";
import { Button } from "../../ui/button";
import { ChannelForm, ChannelFormFooter } from "./channel-form";
import { FormSkeleton, useChannel } from "./channel-loading";
import { useChannelForm } from "./use-channel-form";
import { useWarnBeforeLeaving } from "./use-warn-before-leaving";

/** /channel/add: the form on a page of its own. */
export function AddChannelPage() {
  return <FormPage channel={undefined} />;
}

/** /channel/edit/{id}: the same, filled in. */
export function EditChannelPage({ id }: { id: string }) {
  const { t } = useLingui();
  const query = useChannel(id, { fresh: true });
  if (query.data && query.isFetchedAfterMount) return <FormPage channel={query.data} />;
  return (
    <Page title={t`编辑渠道`} width="form">
      {query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : <FormSkeleton />}
    </Page>
  );
}

function FormPage({ channel }: { channel: ChannelView | undefined }) {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const state = useChannelForm({
    channel,
    onSaved: ([first, ...more]) => navigate(first && more.length === 0 ? `/channel?open=${first.id}` : "/channel"),
  });
  const unsaved = state.changes.length > 0;
  useWarnBeforeLeaving(unsaved && state.changes.includes("key"));
  const name = channel?.name ?? "";

  return (
    <Page
      title={channel ? t`编辑渠道 ${name}` : t`添加渠道`}
      width="form"
      actions={
        <Button asChild variant="ghost">
          <Link href="/channel">
            <ArrowLeft aria-hidden />
            {t`返回渠道列表`}
          </Link>
        </Button>
      }
    >
      <div data-form-page="">
        <ChannelForm state={state} level={2} />
      </div>
      <footer className="sticky bottom-0 z-10 -mx-4 flex items-center gap-2 border-t border-line bg-canvas px-4 py-3 sm:-mx-6 sm:px-6">
        <ChannelFormFooter
          state={state}
          onCancel={() => {
            if (unsaved) toastInfo(t`未保存的修改已留作草稿（不含密钥）`, { id: "channel-draft" });
            navigate("/channel");
          }}
        />
      </footer>
    </Page>
  );
}
