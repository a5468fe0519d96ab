import { adminProcedure, router } from "../../http/trpc";
import { createDemoChannel } from "./service";

export const demoRouter = router({
  /** Makes the demo channel (once) and returns it. */
  createChannel: adminProcedure.meta({ once: true }).mutation(({ ctx }) => createDemoChannel(ctx)),
});
