import { useQueryClient } from "@tanstack/react-query";
import { navigate } from "wouter/use-browser-location";
import { faultOf } from "../lib/errors";
import { clearUser } from "../lib/session";
import { trpc } from "../lib/trpc";

/** Ends the session on the server, then forgets the user and everything that was loaded for them. */
export function useSignOut(): () => Promise<void> {
  const queries = useQueryClient();
  const logout = trpc.auth.logout.useMutation();
  return async () => {
    try {
      await logout.mutateAsync();
    } catch (error) {
      // A session that is over already is what was asked for. Anything else was reported, and leaves the user signed
      // in.
      if (faultOf(error).kind !== "signed-out") return;
    }
    clearUser();
    queries.clear();
    navigate("/login");
  };
}
