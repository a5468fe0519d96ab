/** OpenAI's error object as a value. */
import type { RelayError } from "../../error";
import type { WireObject } from "../../events";

export const toWire = ({ message, type, param, code }: RelayError): WireObject => ({
  error: { message, type, param, code },
});
