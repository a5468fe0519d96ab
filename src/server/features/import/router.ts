import { importReportInput } from "../../../shared/import";
import { rootProcedure, router } from "../../http/trpc";
import { listReports, readReport } from "./reports";

export const importRouter = router({
  reports: rootProcedure.query(({ ctx }) => listReports(ctx)),
  report: rootProcedure.input(importReportInput).query(({ ctx, input }) => readReport(ctx, input.id)),
});
