import * as z from "zod";
import { optionHistoryInput, optionHistoryRest, optionRestoreInput } from "../../../shared/history";
import { mailboxSchema } from "../../../shared/mailbox";
import { isHidden, optionKeys } from "../../../shared/options";
import { publicProcedure, rootProcedure, router } from "../../http/trpc";
import { optionHistory, restoreOption } from "./history";
import { setOption, settings } from "./service";
import { sendTestMail } from "./test-mail";

/** One key per call. `value` may be text, number or boolean and may be missing (= ""), as existing forms send it. */
const optionInput = z.object({
  key: z.string().max(100),
  value: z.union([z.string().max(1_000_000), z.number(), z.boolean()]).optional(),
});

export const optionRouter = router({
  list: rootProcedure
    .meta({ rest: "GET /api/option/", summary: "Every option that is not secret, values as text" })
    .query(({ ctx }) =>
      optionKeys.filter((key) => !isHidden(key)).map((key) => ({ key, value: ctx.options.text(key) })),
    ),
  set: rootProcedure
    .meta({ rest: "PUT /api/option/", summary: "Set one option" })
    .input(optionInput)
    .mutation(({ ctx, input }) => setOption(ctx, input.key, String(input.value ?? ""))),
  history: rootProcedure
    .input(optionHistoryInput)
    .query(({ ctx, input }) => optionHistory(ctx, input.keys, input.member, input.cursor)),
  restore: rootProcedure
    .meta({ rest: "POST /api/option/restore", summary: "Put back what an option was before a change" })
    .input(optionRestoreInput)
    .mutation(({ ctx, input }) => restoreOption(ctx, input)),
  historyRest: rootProcedure
    .meta({ rest: "GET /api/option/history", summary: "What people changed of an option, newest first" })
    .input(optionHistoryRest)
    .query(({ ctx, input }) => optionHistory(ctx, [input.key], input.member, input.cursor)),
  testMail: rootProcedure
    .meta({
      silent: true,
      once: true,
      rest: "POST /api/option/test_mail",
      summary: "Send a mail by the SMTP settings, to oneself unless `to` says where",
      critical: true,
    })
    .input(z.object({ to: z.literal("").or(mailboxSchema).default("") }))
    .mutation(({ ctx, input }) => sendTestMail(ctx, input.to)),
  /** The values that the settings pages start from. */
  settings: rootProcedure.query(({ ctx }) => settings(ctx)),
  notice: publicProcedure
    .meta({ rest: "GET /api/notice", summary: "The operator's notice (Markdown or HTML)" })
    .query(({ ctx }) => ctx.options.get("Notice")),
  homePage: publicProcedure
    .meta({
      rest: "GET /api/home_page_content",
      summary: "The operator's home page (Markdown, HTML or an https address)",
    })
    .query(({ ctx }) => ctx.options.get("HomePageContent")),
  about: publicProcedure
    .meta({ rest: "GET /api/about", summary: "The operator's about page (Markdown, HTML or an https address)" })
    .query(({ ctx }) => ctx.options.get("About")),
});
