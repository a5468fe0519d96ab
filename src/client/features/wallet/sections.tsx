/**
 * The sections of the wallet below balance and codes, in their order. Each is a component in a file of its own, fetched
 * with the page; it draws its own card (ui/card), asks its own questions and returns null when it has nothing to say.
 */
import { lazy, type Lazy } from "../../lib/lazy";

export interface WalletSection {
  id: string;
  component: Lazy;
}

export const walletSections: readonly WalletSection[] = [
  { id: "topup", component: lazy(() => import("../order/topup-section")) },
  { id: "orders", component: lazy(() => import("../order/orders-section")) },
  { id: "invite", component: lazy(() => import("../invite/invite-section")) },
];
