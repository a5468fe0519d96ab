/** GET /v1/realtime: a WebSocket on which many responses are made. See relay/realtime/. */
import { fail } from "../../../shared/errors";
import type { Operation } from "./operation";

/** Its model stands in the address; there is no body to read. */
export const realtime: Operation = {
  key: "realtime",
  streams: true,
  read: () => fail("invalid_request", { detail: "upgrade" }),
};
