import { useLingui } from "@lingui/react/macro";
import { Mail } from "lucide-react";
import { trpc } from "../../lib/trpc";
import { BindingRow } from "./binding-row";

/** The account's e-mail address. */
export default function EmailBinding() {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  return <BindingRow icon={Mail} name={t`邮箱`} bound={self.data?.email} />;
}
