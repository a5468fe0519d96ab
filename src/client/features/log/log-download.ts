import { t } from "@lingui/core/macro";
import { downloadAnswer } from "../../lib/download";
import { reportError } from "../../lib/errors";
import { toastInfo } from "../../lib/toast";

/** Saves the filtered rows as a file. What goes wrong is shown. */
export async function downloadLog(format: "csv" | "jsonl", query: string): Promise<void> {
  toastInfo(t`正在导出…`, { id: "log-export" });
  try {
    const name = await downloadAnswer(`/api/log/export?format=${format}&${query}`, `weir-log.${format}`);
    toastInfo(t`已导出 ${name}`, { id: "log-export" });
  } catch (error) {
    reportError(error);
  }
}
