import { auditListInput } from "../../../shared/audit";
import { rootProcedure, router } from "../../http/trpc";
import { listActs } from "./service";

export const auditRouter = router({
  list: rootProcedure.input(auditListInput).query(({ ctx, input }) => listActs(ctx, input)),
});
