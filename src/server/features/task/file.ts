/**
 * The files of a job, for the console's pages: its owner and administrators see them by their session, wherever the
 * file is kept.
 */
import { jobFileRest } from "../../../shared/task-list";
import { ROLE } from "../../../shared/roles";
import { buildInput } from "../../http/coerce";
import type { PlainRoute } from "../../http/plain";
import { signedIn } from "../../http/trpc";
import { scopeOf } from "../log/service";
import { nameOf } from "./row";
import { findJob } from "./service";

/** `GET /api/task/file?id=7&n=0`: ranges are supported; what is not a picture, sound or film is never sent as one. */
export const taskFile: PlainRoute = {
  line: "GET /api/task/file",
  shown: true,
  async answer(guest, request) {
    const ctx = signedIn(guest, ROLE.user);
    const { id, n } = jobFileRest.parse(
      buildInput(jobFileRest, { path: {}, query: new URL(request.url).searchParams, body: undefined }),
    );
    const row = await findJob(ctx, scopeOf(ctx), "any", id);
    const response = await ctx.taskService.file({ ...nameOf(row), index: n }, request, ctx.request_id, ctx.lang);
    // It is shown on this server's pages only.
    response.headers.set("cross-origin-resource-policy", "same-origin");
    return response;
  },
};
