/**
 * Jobs in the table `tasks`, behind contracts/task-store.ts. A status is changed only from the one that was read
 * before, and only the change that succeeds moves money, in the same transaction.
 */
import { type Services } from "../../contracts/context";
import type { TaskStore } from "../../contracts/task-store";
import { taskEndings } from "./task-end";
import { taskQueries } from "./task-queries";
import { taskSubmissions } from "./task-submit";

export const createTaskStore = (
  services: Pick<Services, "db" | "ledger" | "now" | "events" | "changes">,
): TaskStore => ({
  ...taskSubmissions(services),
  ...taskEndings(services),
  ...taskQueries(services),
});
