/** The tRPC tree: the source of the console's types and of every /api route. */
import { absentRouter } from "./features/absent/router";
import { incidentRouter } from "./features/alert/router";
import { auditRouter } from "./features/audit/router";
import { authRouter } from "./features/auth/router";
import { channelRouter } from "./features/channel/router";
import { dashboardRouter } from "./features/dashboard/router";
import { demoRouter } from "./features/demo/router";
import { factorRouter } from "./features/factor/router";
import { groupRouter } from "./features/group/router";
import { identityRouter } from "./features/identity/router";
import { instanceRouter } from "./features/instance/router";
import { importRouter } from "./features/import/router";
import { inviteRouter } from "./features/invite/router";
import { logRouter } from "./features/log/router";
import { midjourneyRouter } from "./features/midjourney/router";
import { noticeRouter } from "./features/notice/router";
import { optionRouter } from "./features/option/router";
import { orderRouter } from "./features/order/router";
import { pricingRouter } from "./features/pricing/router";
import { pushRouter } from "./features/push/router";
import { redemptionRouter } from "./features/redemption/router";
import { setupRouter } from "./features/setup/router";
import { statusRouter } from "./features/status/router";
import { taskRouter } from "./features/task/router";
import { tokenRouter } from "./features/token/router";
import { userRouter } from "./features/user/router";
import { createCallerFactory, router } from "./http/trpc";

export const appRouter = router({
  absent: absentRouter,
  audit: auditRouter,
  auth: authRouter,
  channel: channelRouter,
  dashboard: dashboardRouter,
  demo: demoRouter,
  factor: factorRouter,
  group: groupRouter,
  identity: identityRouter,
  incident: incidentRouter,
  instance: instanceRouter,
  import: importRouter,
  invite: inviteRouter,
  log: logRouter,
  midjourney: midjourneyRouter,
  notice: noticeRouter,
  option: optionRouter,
  order: orderRouter,
  pricing: pricingRouter,
  push: pushRouter,
  redemption: redemptionRouter,
  setup: setupRouter,
  status: statusRouter,
  task: taskRouter,
  token: tokenRouter,
  user: userRouter,
});

export type AppRouter = typeof appRouter;
export const createCaller = createCallerFactory(appRouter);
