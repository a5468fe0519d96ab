/** Routes of accounts: the caller's own, and those that an administrator manages. */
import * as z from "zod";
import {
  userCreate,
  userExport,
  userId,
  userListInput,
  userListRest,
  userManage,
  userManageRest,
  userPut,
  userSearchRest,
  userTopUp,
  userUpdate,
} from "../../../shared/user-manage";
import { findInput } from "../../../shared/search";
import { selfUpdate } from "../../../shared/user";
import { adminProcedure, rootProcedure, router, userProcedure } from "../../http/trpc";
import { factorsOfUser, removeFactorsOfUser } from "./factors";
import { createUser, manageUser, updateUser } from "./manage";
import { findUsers, getUser, listCredits, pageUsers } from "./manage-list";
import { eraseUser, exportUser } from "./personal-data";
import { deleteSelf, newAccessToken, self, updateSelf } from "./service";

export const userRouter = router({
  self: userProcedure
    .meta({ rest: "GET /api/user/self", summary: "The signed-in account" })
    .query(({ ctx }) => self(ctx)),
  newAccessToken: userProcedure
    .meta({ once: true, rest: "GET /api/user/token", summary: "Make a new system access token; the old one dies" })
    .mutation(({ ctx }) => newAccessToken(ctx)),
  updateSelf: userProcedure
    .meta({ rest: "PUT /api/user/self", summary: "Change one's own name, display name or password" })
    .input(selfUpdate)
    .mutation(({ ctx, input }) => updateSelf(ctx, input)),
  deleteSelf: userProcedure
    .meta({ rest: "DELETE /api/user/self", summary: "Delete one's own account for ever" })
    .mutation(({ ctx }) => deleteSelf(ctx)),

  find: adminProcedure.input(findInput).query(({ ctx, input }) => findUsers(ctx, input.words)),
  list: adminProcedure.input(userListInput).query(({ ctx, input }) => pageUsers(ctx, input)),
  listPlain: adminProcedure
    .meta({ rest: "GET /api/user/", summary: "Accounts, deleted ones included, newest first" })
    .input(userListRest)
    .query(({ ctx, input: { p, page_size } }) => pageUsers(ctx, { page: p, page_size, desc: true })),
  search: adminProcedure
    .meta({ rest: "GET /api/user/search", summary: "Accounts by id, part of name or address, group, role and status" })
    .input(userSearchRest)
    .query(({ ctx, input: { p, status, ...input } }) =>
      pageUsers(ctx, { page: p, ...input, state: status ?? "", desc: true }),
    ),
  get: adminProcedure
    .meta({ rest: "GET /api/user/{id}", summary: "One account of a lower level, or one's own" })
    .input(userId)
    .query(({ ctx, input }) => getUser(ctx, input.id)),
  create: adminProcedure
    .meta({ once: true, rest: "POST /api/user/", summary: "Create an account of a lower level" })
    .input(userCreate)
    .mutation(({ ctx, input }) => createUser(ctx, input)),
  update: adminProcedure
    .meta({ once: true })
    .input(userUpdate)
    .mutation(({ ctx, input: { id, ...change } }) => updateUser(ctx, id, change)),
  put: adminProcedure
    .meta({
      once: true,
      rest: "PUT /api/user/",
      summary: "Change an account; a quota that differs is booked as the difference",
    })
    .input(userPut)
    .mutation(({ ctx, input: { id, ...change } }) => updateUser(ctx, id, change)),
  delete: adminProcedure
    .meta({ rest: "DELETE /api/user/{id}", summary: "Delete an account; its name stays taken" })
    .input(userId)
    .mutation(async ({ ctx, input }) => {
      await manageUser(ctx, input.id, "delete");
    }),
  manage: adminProcedure.input(userManage).mutation(({ ctx, input }) => manageUser(ctx, input.id, input.action)),
  manageRest: adminProcedure
    .meta({
      once: true,
      rest: "POST /api/user/manage",
      summary: "Promote, demote, enable, disable or delete an account, or change its balance",
    })
    .input(userManageRest)
    .mutation(({ ctx, input: { id, action, mode, value } }) => {
      if (action !== "add_quota") return manageUser(ctx, id, action);
      return updateUser(
        ctx,
        id,
        mode === "override" ? { quota: value } : { add_quota: mode === "add" ? value : -value },
      );
    }),
  topUp: adminProcedure
    .meta({ once: true, rest: "POST /api/topup", summary: "Change an account's balance, with a remark" })
    .input(userTopUp)
    .mutation(async ({ ctx, input }) => {
      await updateUser(ctx, input.user_id, { add_quota: input.quota, note: input.remark });
    }),

  /** Credits of an account. */
  credits: adminProcedure
    .input(userId.extend({ before: z.int().positive().optional() }))
    .query(({ ctx, input }) => listCredits(ctx, input.id, input.before)),
  factors: adminProcedure.input(userId).query(({ ctx, input }) => factorsOfUser(ctx, input.id)),
  removeFactors: adminProcedure.input(userId).mutation(({ ctx, input }) => removeFactorsOfUser(ctx, input.id)),
  removeTotp: adminProcedure
    .meta({ rest: "DELETE /api/user/{id}/2fa", summary: "Remove an account's one-time codes and recovery codes" })
    .input(userId)
    .mutation(({ ctx, input }) => removeFactorsOfUser(ctx, input.id, ["totp"])),
  removePasskeys: adminProcedure
    .meta({ rest: "DELETE /api/user/{id}/reset_passkey", summary: "Remove an account's passkeys" })
    .input(userId)
    .mutation(({ ctx, input }) => removeFactorsOfUser(ctx, input.id, ["passkeys"])),
  /** A mutation, because it is recorded. */
  export: adminProcedure.input(userExport).mutation(({ ctx, input }) => exportUser(ctx, input.id, input.cursor)),
  erase: rootProcedure.input(userId).mutation(({ ctx, input }) => eraseUser(ctx, input.id)),
});
