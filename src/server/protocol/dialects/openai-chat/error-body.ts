/** OpenAI's error object as a value. */
import type { RelayError } from "../../relay-error";
import type { WireObject } from "../../chat-events";

export const toWire = ({ message, type, param, code }: RelayError): WireObject => ({
  error: { message, type, param, code },
});
