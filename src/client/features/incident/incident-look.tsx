/** How incidents look wherever they are shown. */
import { useLingui } from "@lingui/react/macro";
import { CircleCheck, Info, OctagonAlert, TriangleAlert } from "lucide-react";
import type { Severity } from "../../../shared/alert-rules";
import { incidentText, type IncidentView, SEVERITY_NAMES } from "../../../shared/incidents";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { trpc } from "../../lib/trpc";
import { Badge, type Hue } from "../../ui/badge";

const looks: Readonly<Record<Severity, { hue: Hue; icon: typeof Info }>> = {
  info: { hue: "blue", icon: Info },
  warning: { hue: "orange", icon: TriangleAlert },
  critical: { hue: "red", icon: OctagonAlert },
};

/** Its text in the console's language. */
export const textOfIncident = (incident: IncidentView): string => incidentText(incident, currentLanguage(), quotaText);

export function SeverityBadge({ severity }: { severity: Severity }) {
  const { hue, icon: Icon } = looks[severity];
  return (
    <Badge hue={hue} icon={<Icon aria-hidden />}>
      {SEVERITY_NAMES[severity][currentLanguage()]}
    </Badge>
  );
}

export function StateBadge({ closed_at }: Pick<IncidentView, "closed_at">) {
  const { t } = useLingui();
  return closed_at === 0 ? (
    <Badge hue="orange" icon={<TriangleAlert aria-hidden />}>{t`未恢复`}</Badge>
  ) : (
    <Badge hue="green" icon={<CircleCheck aria-hidden />}>{t`已恢复`}</Badge>
  );
}

/** What operators do with incidents; lists and bell are read again afterwards. */
export function useIncidentActs() {
  const utils = trpc.useUtils();
  const onSettled = () => utils.incident.invalidate();
  const seen = trpc.incident.seen.useMutation({ onSettled });
  const mute = trpc.incident.mute.useMutation({ onSettled });
  return { seen, mute };
}
