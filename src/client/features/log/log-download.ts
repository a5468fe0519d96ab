import { t } from "@lingui/core/macro";
import { CallError, callHeaders } from "../../lib/http";
import { reportError } from "../../lib/errors";
import { toastInfo } from "../../lib/toast";

/** The envelope that came instead of what was asked for. */
export async function refusalOf(response: Response): Promise<CallError> {
  const body: { message?: unknown } | null = await response.json().catch(() => null);
  return new CallError(
    typeof body?.message === "string" ? body.message : response.statusText,
    response.status,
    response.headers.get("x-request-id"),
  );
}

/**
 * Saves the filtered rows as a file. By a call and not by a link, because a link cannot send the header that names the
 * user. What goes wrong is shown.
 */
export async function downloadLog(format: "csv" | "jsonl", query: string): Promise<void> {
  toastInfo(t`正在导出…`, { id: "log-export" });
  try {
    const response = await fetch(`/api/log/export?format=${format}&${query}`, { headers: callHeaders() });
    if (!response.headers.get("content-disposition")) {
      throw await refusalOf(response);
    }
    const name =
      /filename="([\w.-]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `weir-log.${format}`;
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    toastInfo(t`已导出 ${name}`, { id: "log-export" });
  } catch (error) {
    reportError(error);
  }
}
