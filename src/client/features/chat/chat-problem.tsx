import { useLingui } from "@lingui/react/macro";
import { MessageCircle } from "lucide-react";
import { Link } from "wouter";
import { ROLE } from "../../../shared/roles";
import { EmptyState } from "../../components/empty-state";
import { useHasRole } from "../../lib/session";
import { Button } from "../../ui/button";

/** Why there is no chat to open; users who can fix it get a link to the setting. */
export function ChatProblem({ problem }: { problem: string }) {
  const { t } = useLingui();
  const root = useHasRole(ROLE.root);
  const settings = (
    <Button asChild>
      <Link href="/setting?tab=operation">{t`配置聊天链接`}</Link>
    </Button>
  );
  return <EmptyState icon={MessageCircle} title={problem} {...(root && { action: settings })} />;
}
