import { noticeSettingInput } from "../../../shared/notice";
import { router, userProcedure } from "../../http/trpc";
import { testNotice } from "./service";
import { saveNoticeSetting } from "./setting";

export const noticeRouter = router({
  save: userProcedure
    .meta({ rest: "PUT /api/user/setting", summary: "How the signed-in account wants to be told of a low quota" })
    .input(noticeSettingInput)
    .mutation(({ ctx, input }) => saveNoticeSetting(ctx, input)),
  test: userProcedure
    .meta({
      silent: true,
      once: true,
      rest: "POST /api/user/setting/test",
      summary: "Send a test notice to oneself",
      critical: true,
    })
    .mutation(({ ctx }) => testNotice(ctx)),
});
