/** A drawing job as its list shows it. What the vendor told of it is read from the job's `data`, the object that /mj/task/{id}/fetch shows. */
import type { DrawingView } from "../../../shared/task-list";
import type { Ctx } from "../../context";
import type { TaskRow } from "../../db/schema";
import type { LogScope } from "../log/filter";
import { parsed, presentJob } from "../task/present";

type Told = Readonly<Record<string, unknown>>;

function toldOf(row: TaskRow): Told {
  const data = parsed(row.data);
  return typeof data === "object" && data !== null && !Array.isArray(data) ? (data as Told) : {};
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const jsonOf = (value: unknown): string => (typeof value === "object" && value !== null ? JSON.stringify(value) : textOf(value));

/** This server's own address of a job's picture; without an origin when the operator has set no ServerAddress. */
function ownAddress(ctx: Pick<Ctx, "options">, mj_id: string): string {
  return `${ctx.options.get("ServerAddress").replace(/\/+$/, "")}/mj/image/${encodeURIComponent(mj_id)}`;
}

/** Times stay milliseconds (C-286). With MjForwardUrlEnabled the picture is where this server shows it. */
export function presentDrawing(ctx: Pick<Ctx, "options">, scope: LogScope, row: TaskRow): DrawingView {
  const told = toldOf(row);
  const imageUrl = textOf(told.imageUrl);
  return {
    ...presentJob(scope, row),
    mj_id: row.task_id,
    code: typeof told.code === "number" ? told.code : 0,
    description: textOf(told.description),
    prompt_en: textOf(told.promptEn),
    state: textOf(told.state),
    image_url: imageUrl && ctx.options.get("MjForwardUrlEnabled") ? ownAddress(ctx, row.task_id) : imageUrl,
    buttons: jsonOf(told.buttons),
    properties: jsonOf(told.properties),
  };
}
