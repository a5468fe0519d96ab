/** What a channel passes through without translation, and whether it stores responses. */
import type { Operation } from "../operations/operation";
import { modelDialect, operationFor } from "./dispatch";
import type { PoolChannel } from "../../contracts/channel";

type NativeOperation = Pick<Operation, "native">;

/** Whether a channel serves the caller's own operation besides chat. `model`: the vendor's name of it. */
export const supportsNatively = (channel: PoolChannel, { native }: NativeOperation, model = ""): boolean =>
  native !== undefined && operationFor(channel, { key: "chat", native }, model) === native.operation;

/** Whether it passes through calls of an operation in the caller's own dialect. */
const isNative = (channel: PoolChannel, operation: NativeOperation, model = ""): boolean =>
  supportsNatively(channel, operation, model) ||
  (operation.native !== undefined && modelDialect(channel, model) === operation.native.dialect);

/** Whether it stores its responses, so that a later call can continue one. */
export const isStateful = (channel: PoolChannel, operation: NativeOperation): boolean =>
  isNative(channel, operation) && channel.type.stateless !== true && channel.setting.stateless !== true;
