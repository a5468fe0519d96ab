import { t } from "@lingui/core/macro";
import { reportError } from "./errors";
import { toastInfo, toastProgress } from "./toast";

/** How often a run says how far it is, in milliseconds. */
const PACE = 200;

let runs = 0;

/**
 * Makes a file that takes a while. How far it is stands at the top of every page of the console until it is saved, with
 * a button that stops it. `make` saves the file and returns its name, null where there is nothing to save; what goes
 * wrong is shown.
 */
export async function runExport(
  make: (report: (done: string) => void, signal: AbortSignal) => Promise<string | null>,
): Promise<void> {
  runs += 1;
  const id = `export-${runs}`;
  const abort = new AbortController();
  const { signal } = abort;
  let said = 0;
  const report = (done: string) => {
    if (signal.aborted || performance.now() - said < PACE) return;
    said = performance.now();
    toastProgress(done === "" ? t`正在导出…` : t`正在导出：${done}`, { id, stop: () => abort.abort() });
  };
  report("");
  try {
    const name = await make(report, signal);
    toastInfo(name === null ? t`没有可导出的行` : t`已导出 ${name}`, { id });
  } catch (error) {
    if (signal.aborted) return toastInfo(t`已停止导出`, { id });
    toastInfo(t`导出没有完成`, { id });
    reportError(error);
  }
}
