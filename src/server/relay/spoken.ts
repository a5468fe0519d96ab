/**
 * Which language a channel is spoken to in. Its type has one for conversations; a type that also declares a caller's own
 * operation takes such a call as it is, and then nothing is translated. `setting.translate` switches that off for a
 * server that stands behind a type and lacks the operation.
 */
import type { Operation as OperationKey } from "../../shared/channel-types";
import { isChatDialect } from "./dialects/chat-dialects";
import type { DialectKey } from "./events";
import type { Operation } from "./operations/operation";
import type { PoolChannel } from "./seams";

type Asked = Pick<Operation, "key" | "native">;

/** Whether a channel takes the calls of an operation in the caller's own dialect. */
export function isNative({ type, setting }: Pick<PoolChannel, "type" | "setting">, { native }: Asked): boolean {
  if (!native) return false;
  if (type.dialect === native.dialect) return true;
  // A complete address is that of one operation, the channel's own.
  return type.operations.includes(native.operation) && !type.complete_url && setting.translate !== true;
}

/** The operation that a channel's provider is asked for. */
export function operationFor(channel: Pick<PoolChannel, "type" | "setting">, operation: Asked): OperationKey {
  const { native, key } = operation;
  return native && native.dialect !== channel.type.dialect && isNative(channel, operation) ? native.operation : key;
}

/** The dialect a channel answers in. Only chat is asked of a channel that does not speak OpenAI's. */
export function dialectOf(channel: Pick<PoolChannel, "type" | "setting">, operation: Asked): DialectKey {
  if (operation.native && isNative(channel, operation)) return operation.native.dialect;
  return isChatDialect(channel.type.dialect) ? channel.type.dialect : "openai-chat";
}
