/** A drawing job as its list shows it. The vendor's answer is in the job's `data` (shared/midjourney.ts). */
import { mjImageUrl, mjText, readMjData } from "../../../shared/midjourney";
import { FINAL_STATUSES } from "../../../shared/task";
import type { DrawingView } from "../../../shared/task-list";
import type { Ctx } from "../../contracts/context";
import type { TaskRow } from "../../db/schema";
import type { LogScope } from "../log/filter";
import { parsed, presentJob } from "../task/present";

const jsonOf = (value: unknown): string => (typeof value === "object" && value !== null ? JSON.stringify(value) : "");

/**
 * This server's address without a trailing slash, '' when the operator has not set it; undefined: the vendor's
 * addresses are shown.
 */
const ownServer = ({ options }: Pick<Ctx, "options">): string | undefined =>
  options.get("MjForwardUrlEnabled") ? options.get("ServerAddress").replace(/\/+$/, "") : undefined;

/** Times stay milliseconds (C-286). With MjForwardUrlEnabled the picture's address is this server's. */
export function presentDrawing(ctx: Pick<Ctx, "options">, scope: LogScope, row: TaskRow): DrawingView {
  const answer = readMjData(parsed(row.data));
  const { code, description, properties, task } = answer;
  const over = FINAL_STATUSES.some((status) => status === row.status);
  return {
    ...presentJob(scope, row),
    mj_id: row.task_id,
    code,
    description: description || mjText(answer, "description"),
    prompt_en: mjText(answer, "promptEn"),
    state: mjText(answer, "state"),
    image_url: mjImageUrl(row.task_id, answer, ownServer(ctx), over ? undefined : row.polls),
    buttons: jsonOf(task?.buttons),
    properties: jsonOf(task?.properties ?? properties),
  };
}
