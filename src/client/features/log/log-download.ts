import { downloadAnswer } from "../../lib/download";
import { runExport } from "../../lib/export-run";

/** Saves the filtered rows as a file that the server makes. */
export const downloadLog = (format: "csv" | "jsonl", query: string): Promise<void> =>
  runExport((report, signal) =>
    downloadAnswer(`/api/log/export?format=${format}&${query}`, `weir-log.${format}`, {
      signal,
      onBytes: (bytes) => report(`${(bytes / 1e6).toFixed(1)} MB`),
    }),
  );
