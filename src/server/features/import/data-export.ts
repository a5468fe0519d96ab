/**
 * The portable form for the console: what `weir export` writes, streamed to a super administrator who has just proved
 * that it is them. It has every secret in clear.
 */
import { ROLE } from "../../../shared/roles";
import { fail } from "../../../shared/errors";
import type { UserCtx } from "../../contracts/context";
import type { PlainRoute } from "../../http/plain";
import { stillHolds } from "../../http/standing";
import { textStream } from "../../http/text-stream";
import { signedIn } from "../../http/trpc";
import { recordAct } from "../audit/record";
import { requireStepUp } from "../auth/step-up";
import { exportHead, exportRecords } from "./export";

/** Characters of one part of the file. */
const PART = 65_536;

/** Throws forbidden when the reader loses their standing, so that the file is cut and does not look complete. */
async function* parts(ctx: UserCtx, request: Request): AsyncGenerator<string, void> {
  let part = `${JSON.stringify(exportHead(ctx))}\n`;
  for await (const one of exportRecords(ctx, () => {})) {
    part += `${JSON.stringify(one)}\n`;
    if (part.length < PART) continue;
    if (!(await stillHolds(ctx, request, ctx.actor))) fail("forbidden");
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

/** The act is recorded before the first byte leaves: a download that breaks off has shown secrets as well. */
export const dataExport: PlainRoute = {
  line: "GET /api/export",
  answer: async (base, request) => {
    const ctx = signedIn(base, ROLE.root);
    requireStepUp(ctx);
    const { kind, version, exported_at } = exportHead(ctx);
    await recordAct(ctx, { action: "data.export", target: "", after: { form: kind, version } });
    const name = `weir-${new Date(exported_at * 1000).toISOString().slice(0, 19).replaceAll(":", "-")}.jsonl`;
    return new Response(textStream(parts(ctx, request)), {
      headers: {
        "content-type": "application/x-ndjson; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
        "cache-control": "no-store",
      },
    });
  },
};
