import * as z from "zod";
import { targetInput } from "../../../shared/alert-targets";
import { incidentListInput, muteInput, seenInput } from "../../../shared/incidents";
import { adminProcedure, rootProcedure, router } from "../../http/trpc";
import {
  bell,
  incidentDetail,
  listIncidents,
  listTargets,
  mute,
  removeTarget,
  saveTarget,
  seeIncidents,
  testTarget,
} from "./service";

export const incidentRouter = router({
  list: adminProcedure
    .meta({ rest: "GET /api/incident/", summary: "Incidents of alert rules, the newest first" })
    .input(incidentListInput)
    .query(({ ctx, input }) => listIncidents(ctx, input)),
  bell: adminProcedure
    .meta({ rest: "GET /api/incident/bell", summary: "Open incidents, and how many were not seen" })
    .query(({ ctx }) => bell(ctx)),
  detail: adminProcedure
    .meta({ rest: "GET /api/incident/{id}", summary: "One incident with its messages" })
    .input(z.object({ id: z.coerce.number().int().positive() }))
    .query(({ ctx, input }) => incidentDetail(ctx, input.id)),
  seen: adminProcedure
    .meta({ rest: "POST /api/incident/seen", summary: "Mark incidents as seen; without `ids` all of them" })
    .input(seenInput)
    .mutation(({ ctx, input }) => seeIncidents(ctx, input.ids)),
  mute: adminProcedure
    .meta({ rest: "POST /api/incident/{id}/mute", summary: "Tell nothing more of an incident for some hours" })
    .input(muteInput)
    .mutation(({ ctx, input }) => mute(ctx, input)),
  targets: rootProcedure
    .meta({ rest: "GET /api/incident/target", summary: "Where alerts are sent, without secrets" })
    .query(({ ctx }) => listTargets(ctx)),
  saveTarget: rootProcedure
    .meta({ rest: "PUT /api/incident/target", summary: "Save an alert target; empty secrets stay as they are" })
    .input(targetInput)
    .mutation(({ ctx, input }) => saveTarget(ctx, input)),
  removeTarget: rootProcedure
    .meta({ rest: "DELETE /api/incident/target/{name}", summary: "Remove an alert target" })
    .input(z.object({ name: z.string().max(60) }))
    .mutation(({ ctx, input }) => removeTarget(ctx, input.name)),
  testTarget: rootProcedure
    .meta({
      silent: true,
      rest: "POST /api/incident/target/test",
      summary: "Send a test to an alert target, saved or not; answers what it answered",
      critical: true,
    })
    .input(targetInput)
    .mutation(({ ctx, input }) => testTarget(ctx, input)),
});
