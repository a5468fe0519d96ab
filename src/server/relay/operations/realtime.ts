/** GET /v1/realtime: a WebSocket that carries many responses. See relay/realtime/. */
import { fail } from "../../../shared/errors";
import type { Operation } from "./operation";

/** The model is in the query; there is no body to read. */
export const realtime: Operation = {
  key: "realtime",
  streams: true,
  read: () => fail("invalid_request", { detail: "upgrade" }),
};
