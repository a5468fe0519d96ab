import type { PoolChannel } from "../../contracts/channel";

/** The id by which cooldowns and failures are counted: a channel, or one of its several keys. */
export const credentialId = ({ id, key_row }: PoolChannel): number | string => (key_row ? `${id}.${key_row.id}` : id);
