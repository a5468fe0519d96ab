/** Who calls a verb. */
import type { ErrorCode } from "../../shared/errors";

export type Actor =
  /** `problem`: why the presented credentials did not sign the actor in; the error of a call that needs a user. */
  | {
      kind: "guest";
      problem?: ErrorCode;
      /** The database could not identify the actor: every route refuses (unknownActor). */ unknown?: true;
    }
  | {
      kind: "user";
      id: number;
      username: string;
      role: number;
      group: string;
      /** How the user authenticated. */
      via: "session" | "access_token";
      session_id: number;
      /** Epoch seconds of the session's last proof: sign-in or step-up. 0 with an access token. */
      verified_at: number;
    }
  /** Timers and the command line. */
  | { kind: "system" };

export type UserActor = Extract<Actor, { kind: "user" }>;
