/** The figures as a Markdown page, with their targets. */
import type { Cell, StartTime, StreamMemory } from "./measure";
import type { Records } from "./records";
import { nameOf, type Scenario } from "./scenarios";

export interface Figures {
  scenarios: { scenario: Scenario; cells: Map<string, Cell> }[];
  /** Names in the order they are shown; the first is the upstream itself. */
  names: { direct: string; bare: string; sqlite: string; postgres?: string };
  streams: Map<string, StreamMemory>;
  start: StartTime;
  /** What was started: "binary" or "source". */
  startedFrom: string;
  /** One for each engine, when asked for. */
  records: Records[];
}

export interface Verdict {
  what: string;
  target: string;
  measured: string;
  met: boolean;
}

const ms = (value: number): string => value.toFixed(value < 10 ? 3 : 1);
export const mb = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MB`;
export const ratio = (a: number, b: number): number => (b > 0 ? a / b : 0);
export const times = (value: number): string => `${value.toFixed(2)}x`;

/** KB of each open stream at the last sample. */
const kbPerStream = ({ idle, open, samples }: StreamMemory): number =>
  open > 0 ? ((samples.at(-1)?.memory.rss ?? 0) - idle.rss) / open / 1024 : 0;

/** KB a stream grew between the first and the last sample. */
const growth = ({ open, samples }: StreamMemory): number =>
  open > 0 ? ((samples.at(-1)?.memory.rss ?? 0) - (samples[0]?.memory.rss ?? 0)) / open / 1024 : 0;

const CPU_TARGET = { plain: 2.5, burst: 3.3 } as const;

export function verdicts({ scenarios, names, streams, start, startedFrom, records }: Figures): Verdict[] {
  const list: Verdict[] = [];
  const check = (what: string, limit: number, value: number, show: (v: number) => string) =>
    list.push({ what, target: `<= ${show(limit)}`, measured: show(value), met: value <= limit });
  for (const { scenario, cells } of scenarios) {
    const weir = cells.get(names.sqlite);
    const bare = cells.get(names.bare);
    if (!weir || !bare) continue;
    const { kind, concurrency } = scenario;
    if (kind !== "paced" && concurrency === 64) {
      check(`CPU per call, ${nameOf(scenario)}`, CPU_TARGET[kind], ratio(weir.cpu_us, bare.cpu_us), times);
    }
    if (kind === "plain" && concurrency === 1) {
      check(`added p50, ${nameOf(scenario)}`, 0.25, weir.p50 - bare.p50, (v) => `${v.toFixed(3)} ms`);
      const postgres = names.postgres && cells.get(names.postgres);
      if (postgres)
        check(`added p50 on Postgres, ${nameOf(scenario)}`, 2.25, postgres.p50 - bare.p50, (v) => `${v.toFixed(3)} ms`);
    }
    if (kind !== "plain" && concurrency === 1) {
      check(
        `first content after the bare one's, ${nameOf(scenario)}`,
        0.5,
        weir.first - bare.first,
        (v) => `${v.toFixed(3)} ms`,
      );
    }
  }
  const held = streams.get(names.sqlite);
  if (held) {
    check("memory of an open stream", 50, kbPerStream(held), (v) => `${v.toFixed(1)} KB`);
    check("its growth over its life", 5, growth(held), (v) => `${v.toFixed(1)} KB`);
  }
  for (const { name, rows, questions, quiet, asked } of records) {
    const slowest = questions.toSorted((a, b) => b.median - a.median)[0];
    if (slowest)
      check(
        `slowest question over ${rows} rows, ${name} (${slowest.question})`,
        300,
        slowest.median,
        (v) => `${v.toFixed(0)} ms`,
      );
    check(
      `growth of the p99 gap of 200 streams meanwhile, ${name}`,
      5,
      asked.p99 - quiet.p99,
      (v) => `${v.toFixed(1)} ms`,
    );
  }
  check(`idle memory (${startedFrom})`, 90, start.idle.rss / 1024 / 1024, (v) => `${v.toFixed(0)} MB`);
  check(`start on an existing folder (${startedFrom})`, 300, start.again, (v) => `${v.toFixed(0)} ms`);
  return list;
}

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? "---" : "---:")), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

function speedTable({ scenarios, names }: Figures): string {
  const rows = scenarios.flatMap(({ scenario, cells }) => {
    const bare = cells.get(names.bare);
    return [...cells].map(([name, cell]) => {
      const against =
        name === names.bare || name === names.direct || !bare ? "" : ` (${times(ratio(cell.cpu_us, bare.cpu_us))})`;
      const speed =
        name === names.bare || name === names.direct || !bare ? "" : ` (${times(ratio(cell.rps, bare.rps))})`;
      return [
        nameOf(scenario),
        name,
        ms(cell.p50),
        ms(cell.p99),
        cell.first > 0 ? ms(cell.first) : "",
        cell.rps.toFixed(0) + speed,
        cell.cpu_us.toFixed(1) + against,
        String(cell.failed),
      ];
    });
  });
  return table(
    ["Scenario", "Process", "p50 ms", "p99 ms", "first content ms", "requests/s", "CPU us/call", "failed"],
    rows,
  );
}

function memoryTable({ streams }: Figures): string {
  const rows = [...streams].map(([name, held]) => [
    name,
    mb(held.idle.rss),
    String(held.open),
    held.samples.map((s) => `${s.afterSeconds} s: ${mb(s.memory.rss)}`).join(", "),
    `${kbPerStream(held).toFixed(1)} KB`,
  ]);
  return table(["Process", "before", "streams open", "with them", "each"], rows);
}

function recordsPart({ records }: Figures): string {
  if (records.length === 0) return "";
  const questions = records[0]?.questions.map(({ question }) => question) ?? [];
  const rows = questions.map((question, i) => [
    question,
    ...records.flatMap((engine) => [ms(engine.questions[i]?.median ?? 0), ms(engine.questions[i]?.longest ?? 0)]),
  ]);
  const streams = records.map(
    ({ name, quiet, asked }) =>
      `${name}: p99 gap ${ms(quiet.p99)} ms in quiet (${quiet.gaps} frames), ${ms(asked.p99)} ms while asked (${asked.gaps}); ${quiet.failed + asked.failed} streams failed.`,
  );
  return `## Log and dashboard with ${records[0]?.rows ?? 0} rows

Ninety days of calls by 40 users with 80 tokens; the questions are asked one after the other while 200 streams run, a frame
each 100 ms. What is measured is the whole call of the console.

${table(["Question", ...records.flatMap(({ name }) => [`${name}, median ms`, "longest"])], rows)}

${streams.join(" ")}

`;
}

export interface Origin {
  date: string;
  machine: string;
  settings: string;
  /** Largest share of a core that the generator used, and the calls that the server counted of those sent. */
  generator: string;
  audit: string;
}

export function markdown(figures: Figures, origin: Origin): string {
  const { start, startedFrom } = figures;
  const judged = verdicts(figures);
  return `# Speed and memory

Written by \`bun run bench --write\`; do not edit. ${origin.date}. ${origin.machine}. ${origin.settings}

Weir runs with authentication, hold, settle and log on, as delivered. The bare pass-through is an Elysia route that reads the
body once and returns the upstream's body. All processes share the machine with the upstream and the load generator, and take
turns; figures are medians of the rounds. CPU per call (utime + stime of the process) is the figure to trust; requests/s is a
lower bound. A stream has 50 content events: burst in one write, paced 4 ms apart. In brackets: ratio to the bare one.

## Targets

${table(
  ["What", "Target", "Measured", ""],
  judged.map((v) => [v.what, v.target, v.measured, v.met ? "met" : "**missed**"]),
)}

## Calls

${speedTable(figures)}

${origin.generator} ${origin.audit}

## Memory

${memoryTable(figures)}

${recordsPart(figures)}## Start (${startedFrom})

${table(
  ["", "ms"],
  [
    ["empty folder: create, migrate, listen", start.first.toFixed(0)],
    ["existing folder: listen", start.again.toFixed(0)],
  ],
)}

Idle after start: ${mb(start.idle.rss)} resident, ${mb(start.idle.anonymous)} of it not backed by files.
`;
}
