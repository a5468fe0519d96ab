/**
 * Routes of tokens: the signed-in user's own, but for `raise`. REST has the clear key, tRPC the hint and a reveal verb.
 */
import * as z from "zod";
import { fail } from "../../../shared/errors";
import { wholePage } from "../../../shared/paging";
import {
  bareKey,
  tokenBatch,
  tokenCreate,
  tokenId,
  tokenIds,
  tokenListInput,
  tokenListRest,
  tokenPut,
  tokenRaise,
  tokenSearchRest,
  tokenStatusUpdate,
  tokenUpdate,
} from "../../../shared/token";
import { adminProcedure, router, userProcedure } from "../../http/trpc";
import { requireProof } from "../auth/step-up";
import { presentToken, presentWithKey } from "./present";
import { raiseTokenQuota } from "./raise";
import {
  createTokens,
  deleteToken,
  deleteTokens,
  findToken,
  findTokens,
  pageTokens,
  revealToken,
  revealTokens,
  setTokenStatus,
  updateToken,
} from "./service";

export const tokenRouter = router({
  /** The console's list: filters and search in one, a page with its total, keys as hints. */
  list: userProcedure.input(tokenListInput).query(async ({ ctx, input }) => {
    const page = await pageTokens(ctx, input);
    return { ...page, items: page.items.map((row) => presentToken(ctx, row)) };
  }),

  get: userProcedure.input(tokenId).query(async ({ ctx, input }) => presentToken(ctx, await findToken(ctx, input.id))),

  /** All or nothing; returns the new tokens with their keys, which the Connect panel shows. */
  create: userProcedure
    .meta({ once: true })
    .input(tokenBatch)
    .mutation(async ({ ctx, input }) => (await createTokens(ctx, input)).map((row) => presentWithKey(ctx, row))),

  update: userProcedure
    .input(tokenUpdate)
    .mutation(async ({ ctx, input: { id, ...change } }) => presentToken(ctx, await updateToken(ctx, id, change))),

  setStatus: userProcedure
    .input(tokenStatusUpdate)
    .mutation(async ({ ctx, input }) => presentToken(ctx, await setTokenStatus(ctx, input.id, input.status))),

  /** A token of another user; administrators. */
  raise: adminProcedure
    .meta({ once: true })
    .input(tokenRaise)
    .mutation(({ ctx, input }) => raiseTokenQuota(ctx, input)),

  /** The clear key, with sk-, after a step-up. A mutation, so that it is never cached or retried. */
  reveal: userProcedure.input(tokenId).mutation(({ ctx, input }) => {
    requireProof(ctx);
    return revealToken(ctx, input.id);
  }),

  revealMany: userProcedure
    .input(z.object({ ids: z.array(z.int().positive()).max(100) }))
    .mutation(({ ctx, input }) => {
      requireProof(ctx);
      return revealTokens(ctx, input.ids);
    }),

  delete: userProcedure
    .meta({ rest: "DELETE /api/token/{id}", summary: "Delete a token; its key stops working at once" })
    .input(tokenId)
    .mutation(({ ctx, input }) => deleteToken(ctx, input.id)),

  // The following routes serve scripts and existing front-ends: keys in clear without sk-.

  listRest: userProcedure
    .meta({ rest: "GET /api/token/", summary: "Own tokens", answer: "list" })
    .input(tokenListRest)
    .query(async ({ ctx, input: { p, page_size } }) => {
      const page = await pageTokens(ctx, { page: p, page_size });
      return { ...page, items: page.items.map((row) => presentWithKey(ctx, row)) };
    }),

  searchRest: userProcedure
    .meta({ rest: "GET /api/token/search", summary: "Own tokens by name and key", answer: "list" })
    .input(tokenSearchRest)
    .query(async ({ ctx, input: { p, page_size, ...filter } }) => {
      const page = page_size
        ? await pageTokens(ctx, { page: p, page_size, ...filter })
        : wholePage(await findTokens(ctx, filter));
      return { ...page, items: page.items.map((row) => presentWithKey(ctx, row)) };
    }),

  getWithKey: userProcedure
    .meta({ rest: "GET /api/token/{id}", summary: "One own token" })
    .input(tokenId)
    .query(async ({ ctx, input }) => presentWithKey(ctx, await findToken(ctx, input.id))),

  /** What the list shows of it already, in the words of programs whose lists have no keys. */
  keyOf: userProcedure
    .meta({ rest: "POST /api/token/{id}/key", summary: "The key of one own token, without sk-" })
    .input(tokenId)
    .mutation(async ({ ctx, input }) => ({ key: presentWithKey(ctx, await findToken(ctx, input.id)).key })),

  keysOf: userProcedure
    .meta({ rest: "POST /api/token/batch/keys", summary: "The keys of several own tokens, by id" })
    .input(tokenIds)
    .mutation(async ({ ctx, input }) => ({
      keys: Object.fromEntries((await revealTokens(ctx, input.ids)).map(({ id, key }) => [id, bareKey(key)])),
    })),

  deleteMany: userProcedure
    .meta({ rest: "POST /api/token/batch", summary: "Delete several own tokens; how many" })
    .input(tokenIds)
    .mutation(({ ctx, input }) => deleteTokens(ctx, input.ids)),

  createOne: userProcedure
    .meta({ once: true, rest: "POST /api/token/", summary: "Create a token" })
    .input(tokenCreate)
    .mutation(async ({ ctx, input }) => {
      const [row] = await createTokens(ctx, { ...input, count: 1 });
      return row ? presentWithKey(ctx, row) : fail("internal");
    }),

  put: userProcedure
    .meta({ rest: "PUT /api/token/", summary: "Change a token; with ?status_only only its status" })
    .input(tokenPut)
    .mutation(async ({ ctx, input: { id, status_only, ...change } }) => {
      const row = status_only ? await setTokenStatus(ctx, id, change.status ?? 0) : await updateToken(ctx, id, change);
      return presentWithKey(ctx, row);
    }),
});
