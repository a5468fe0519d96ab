/**
 * Which language a channel is spoken to in. Its type has one for conversations; a type that also declares a caller's own
 * operation takes such a call as it is, and then nothing is translated. `setting.translate` switches that off for a
 * server that stands behind a type and lacks the operation.
 */
import type { Operation as OperationKey } from "../../shared/channel-types";
import type { UpstreamDialectKey } from "./dialects/vendor-dialects";
import type { Operation } from "./operations/operation";
import { dialectOf } from "./providers/speak";
import type { PoolChannel } from "./seams";

type Asked = Pick<Operation, "key" | "native">;

/** Whether a channel takes the calls of an operation in the caller's own dialect. */
export function isNative({ type, setting }: Pick<PoolChannel, "type" | "setting">, { native }: Asked): boolean {
  if (!native) return false;
  if (type.dialect === native.dialect) return true;
  // A complete address is that of one operation, the channel's own.
  return type.operations.includes(native.operation) && !type.complete_url && setting.translate !== true;
}

/** Whether it keeps the answers itself, so that a later call can go on from one. */
export const keepsAnswers = (channel: Pick<PoolChannel, "type" | "setting">, operation: Asked): boolean =>
  isNative(channel, operation) && channel.type.stateless !== true && channel.setting.stateless !== true;

/** The operation that a channel is asked for. */
export function operationFor(channel: PoolChannel, operation: Asked): OperationKey {
  const { native, key } = operation;
  return native && native.dialect !== channel.type.dialect && isNative(channel, operation) ? native.operation : key;
}

/** The dialect in which a channel is asked and answers; undefined: it is not asked for this. `model`: the vendor's name of it. */
export function dialectFor(channel: PoolChannel, operation: Asked, model: string): UpstreamDialectKey | undefined {
  return operation.native && isNative(channel, operation) ? operation.native.dialect : dialectOf(channel, operation.key, model);
}
