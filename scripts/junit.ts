/** Counts of a JUnit report as `bun test --reporter=junit` writes it. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export const noCounts = (): Counts => ({ passed: 0, failed: 0, skipped: 0 });

export function addCounts(sum: Counts, more: Counts): void {
  sum.passed += more.passed;
  sum.failed += more.failed;
  sum.skipped += more.skipped;
}

/**
 * Sums a report. A file that could not be loaded, or ended the process, is not in the report at all: each of `files`
 * (paths relative to the project) that is missing counts as one failure and is named.
 */
export function readReport(xml: string, files: string[]): { counts: Counts; missing: string[] } {
  const head = /<testsuites\b[^>]*>/.exec(xml)?.[0] ?? "";
  const number = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const reported = new Set([...xml.matchAll(/<testsuite\b[^>]*?\bfile="([^"]*)"/g)].map((match) => match[1]));
  const missing = files.filter((file) => !reported.has(file));
  const failed = number("failures");
  const skipped = number("skipped");
  return {
    counts: { passed: Math.max(0, number("tests") - failed - skipped), failed: failed + missing.length, skipped },
    missing,
  };
}

/** The last line of a test run; the form is read by machines. */
export const summaryLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
