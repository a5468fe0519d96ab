import type { Ctx } from "../../contracts/context";
import { recordAct } from "../audit/record";
import { shownChange } from "../option/shown-change";
import { forgetOption } from "../option/store";

/**
 * POST /api/option/rest_model_ratio (this spelling): ModelRatio becomes the built-in table again, also when a later
 * release has a newer one. Nothing else changes (D-71). The message is the one that existing front-ends show.
 */
export async function resetModelRatio(ctx: Ctx): Promise<{ message: string }> {
  const before = ctx.options.text("ModelRatio");
  await forgetOption({ db: ctx.db, bus: ctx.cluster.bus }, "ModelRatio");
  await ctx.options.reload();
  const after = ctx.options.text("ModelRatio");
  if (before !== after)
    await recordAct(ctx, {
      action: "option.update",
      target: "ModelRatio",
      ...shownChange("ModelRatio", before, after),
    });
  return { message: ctx.lang === "zh" ? "模型倍率已重置" : "The model ratios were reset" };
}
