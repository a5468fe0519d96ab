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

/** The last line of a test run; machines parse it. */
export const summaryLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/** A test that failed. */
export interface FailedTest {
  /** Relative to the project. */
  file: string;
  /** Its describes and its own name, outermost first. */
  path: string[];
  /** Its error. */
  text: string;
}

/** The failed tests of a report, in its order. A failed hook is among them, as a test called `(unnamed)`. */
export function failedTests(xml: string): FailedTest[] {
  const attribute = (tag: string, name: string): string =>
    unescape(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
  return [...xml.matchAll(/<testcase\b([^>]*[^/])>([\s\S]*?)<\/testcase>/g)].flatMap(([, tag = "", inside = ""]) => {
    const failure = /<failure\b([^>]*)>([\s\S]*?)<\/failure>|<failure\b([^>]*)\/>/.exec(inside);
    if (!failure) return [];
    const [, head = "", text = "", alone = ""] = failure;
    // Bun names the innermost describe first.
    const suites = attribute(tag, "classname").split(" > ").filter(Boolean).reverse();
    return [
      {
        file: attribute(tag, "file"),
        path: [...suites, attribute(tag, "name")],
        text: unescape(text) || attribute(head || alone, "message"),
      },
    ];
  });
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#10": "\n" };
const unescape = (text: string): string =>
  text.replace(/&(#10|\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
