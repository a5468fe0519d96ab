import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { ArrowLeft, ArrowRight } from "lucide-react";
import { Link } from "wouter";
import { ErrorPanel } from "../../components/error-panel";
import { useUser } from "../../lib/session";
import { trpc } from "../../lib/trpc";
import { consoleHome } from "../../paths";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { ConnectPanel } from "../connect/connect-panel";
import { StepFrame } from "./step-frame";

/** The end of the wizard: the first token, and how a client uses it. */
export default function ConnectStep({ hasChannel, onBack }: { hasChannel: boolean; onBack: () => void }) {
  const { t } = useLingui();
  const user = useUser();
  const { client } = trpc.useUtils();
  // One query and not a chain of effects: asked for twice at once it still makes one token.
  const token = useQuery({
    queryKey: ["first-token", user?.id],
    queryFn: async (): Promise<{ id: number; key: string }> => {
      const { items } = await client.token.list.query({ page: 1, page_size: 1 });
      const [existing] = items;
      if (existing) return { id: existing.id, ...(await client.token.reveal.mutate({ id: existing.id })) };
      const [created] = await client.token.create.mutate({ name: t`默认`, unlimited_quota: true, remain_quota: 0 });
      if (!created) throw new Error("the server made no token");
      return { id: created.id, key: created.key };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    meta: { quiet: true },
  });

  return (
    <StepFrame
      step="connect"
      title={t`连接你的客户端`}
      description={t`第一个令牌已经创建好。选择客户端，复制配置；第一个请求到达时，下面会打勾。`}
    >
      <Card className="min-w-0 p-4">
        {token.error ? <ErrorPanel error={token.error} onRetry={() => void token.refetch()} /> : null}
        {token.isPending ? <Skeleton className="h-64" /> : null}
        {token.data ? <ConnectPanel tokenId={token.data.id} tokenKey={token.data.key} /> : null}
      </Card>
      <div className="flex justify-between gap-2">
        {hasChannel ? (
          <span />
        ) : (
          <Button size="lg" onClick={onBack}>
            <ArrowLeft aria-hidden />
            {t`添加渠道`}
          </Button>
        )}
        <Button asChild size="lg" variant="primary">
          <Link href={consoleHome(user?.role ?? 0) ?? "/"}>
            {t`进入控制台`}
            <ArrowRight aria-hidden />
          </Link>
        </Button>
      </div>
    </StepFrame>
  );
}
