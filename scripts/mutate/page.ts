/** docs/mutation.md: one row for each file and draw, of the run in which it was last measured. */
export interface Row {
  file: string;
  date: string;
  all: number;
  tried: number;
  /** Which draw they are of, where they are not all. */
  seed: number;
  killed: number;
  timed_out: number;
  survived: number;
  equivalent: number;
  score: number;
}

const HEAD = `# Mutation testing

A test suite is tried by making the code wrong on purpose: one small change at a time, and some test must fail.

\`\`\`
npm run mutate -- src/shared/charge.ts                 # every change of one file
npm run mutate -- --sample 40 --seed 1 --workers 2     # 40 of each target, the same 40 for the same seed
npm run mutate -- --sample 40 --write                  # and these figures are replaced
\`\`\`

Each change is made in a copy of the project, never in the working tree, and only the tests that are named for the file are run
(\`scripts/mutate/targets.ts\`): a survivor is a hole near the code, not a proof that no test of the whole suite sees it.
Changed are comparisons, \`&&\` and \`||\`, the fallback of \`??\`, arithmetic, \`Math\` roundings and bounds, truth values, numbers,
conditions, statements that call something, guards that leave, \`.catch\`, lines of tables, alternatives of regular
expressions, what is taken out of a rest, and operators in SQL. Types, imports and logging are not.

- **Killed**: a test failed.
- **Timed out**: the tests took more than three times as long and five seconds; counted as noticed.
- **Equivalent**: the change has no observable effect; listed with its reason in \`scripts/mutate/equivalent.ts\`, and not counted.

The score is what was noticed among the rest. Each target has a lowest score that it must not fall below. Where not all changes
were tried, a draw decided which: tests were written for survivors of one draw, so another draw (\`--seed\`) tells more.

| File | Measured | Changes | Tried | Killed | Timed out | Survived | Equivalent | Score |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`;

const lineOf = (row: Row): string =>
  `| \`${row.file}\` | ${row.date} | ${row.all} | ${row.tried === row.all ? "all" : `${row.tried} (seed ${row.seed})`} | ${row.killed} | ${row.timed_out} | ${row.survived} | ${row.equivalent} | ${row.score.toFixed(1)} % |`;

/** The page with this row, in place of an older one of the same file and the same draw. */
export function pageWith(page: string, row: Row): string {
  const isSame = (line: string): boolean =>
    line.startsWith(`| \`${row.file}\``) && (row.tried === row.all || line.includes(`(seed ${row.seed})`));
  const others = page.split("\n").filter((line) => line.startsWith("| `") && !isSame(line));
  return `${HEAD}${[...others, lineOf(row)].sort().join("\n")}\n`;
}
