/** How a change of channels becomes known. */
import type { Services } from "../../contracts/context";
import type { Q } from "../../db/types";
import type { Steps } from "../../db/transaction";

/**
 * The last steps of a transaction that changes channels: every instance's pool reloads, this one's before the caller
 * gets its answer (C-327).
 */
export const announceChange = ({ cluster }: Pick<Services, "cluster">, q: Q, id: number | "*"): Steps<void> =>
  cluster.bus.announce(q, "channels", String(id));
