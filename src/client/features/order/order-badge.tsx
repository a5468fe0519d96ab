import { Ban, CircleCheck, CircleHelp, CircleSlash, Clock, CornerUpLeft, type LucideIcon } from "lucide-react";
import { ORDER_STATUSES, orderStatuses, type OrderStatus } from "../../../shared/order";
import { currentLanguage } from "../../lib/i18n";
import { Badge, type Hue } from "../../ui/badge";

const LOOKS: Readonly<Record<OrderStatus, { hue: Hue; icon: LucideIcon }>> = {
  pending: { hue: "yellow", icon: Clock },
  success: { hue: "green", icon: CircleCheck },
  failed: { hue: "red", icon: Ban },
  expired: { hue: "grey", icon: CircleSlash },
  refunded: { hue: "blue", icon: CornerUpLeft },
};

/** The state of an order. */
export function OrderBadge({ status }: { status: string }) {
  const known = orderStatuses.find((candidate) => candidate === status);
  const { hue, icon: Icon } = known ? LOOKS[known] : { hue: "grey" as const, icon: CircleHelp };
  return (
    <Badge hue={hue} icon={<Icon aria-hidden />}>
      {known ? ORDER_STATUSES[known][currentLanguage()] : status}
    </Badge>
  );
}
