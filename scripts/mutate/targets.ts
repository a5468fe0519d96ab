/** Which source files `npm run mutate` changes, which tests must notice. */

export interface Target {
  readonly file: string;
  /** Files of tests that are named for this file: those beside it, and those of its guarantees elsewhere. */
  readonly tests: readonly string[];
  /** The lowest score in percent; raise it when tests get better, never lower it for a change that lacks tests. */
  readonly least: number;
}

const LEDGER = [
  "src/server/features/wallet/ledger.test.ts",
  "tests/money/ledger.test.ts",
  "tests/money/group-commit.test.ts",
];

export const TARGETS: readonly Target[] = [
  {
    file: "src/server/features/wallet/ledger.sqlite.ts",
    tests: LEDGER,
    least: 85,
  },
  {
    file: "src/server/features/wallet/batch.sqlite.ts",
    tests: ["src/server/features/wallet/batch.test.ts", ...LEDGER],
    least: 85,
  },
  {
    file: "src/server/features/wallet/single-verb.pg.ts",
    tests: ["src/server/features/wallet/ledger.test.ts", "tests/money/ledger.test.ts"],
    least: 85,
  },
  {
    file: "src/server/features/wallet/verb-batches.pg.ts",
    tests: [
      "src/server/features/wallet/verb-batches.test.ts",
      "src/server/features/wallet/batch.pg.test.ts",
      "src/server/features/wallet/ledger.test.ts",
    ],
    least: 85,
  },
  {
    file: "src/shared/charge.ts",
    tests: ["src/shared/charge.test.ts", "src/shared/pricing.test.ts"],
    least: 85,
  },
  {
    file: "src/server/relay/billing/final-charge.ts",
    tests: ["src/server/relay/billing/final-charge.test.ts", "tests/relay/charge.test.ts"],
    least: 85,
  },
  {
    file: "src/server/relay/routing/channel-selector.ts",
    tests: ["src/server/relay/routing/channel-selector.test.ts", "tests/relay/routing.test.ts"],
    least: 85,
  },
  {
    file: "src/server/protocol/upstream-failure.ts",
    tests: [
      "src/server/protocol/failure-rules.test.ts",
      "src/server/protocol/upstream-failure.test.ts",
      "src/server/protocol/vendor-errors.test.ts",
    ],
    least: 85,
  },
  {
    file: "src/server/protocol/vendor-error-kind.ts",
    tests: ["src/server/protocol/failure-rules.test.ts", "src/server/protocol/vendor-errors.test.ts"],
    least: 85,
  },
  { file: "src/server/relay/routing/cooldown.ts", tests: ["src/server/relay/routing/cooldown.test.ts"], least: 85 },
  {
    file: "src/server/relay/upstream/passthrough-openai.ts",
    tests: ["src/server/relay/upstream/passthrough-openai.test.ts", "tests/relay/streams.test.ts"],
    least: 85,
  },
  {
    file: "src/server/relay/delivery/stream-body.ts",
    tests: [
      "src/server/relay/delivery/stream-body.test.ts",
      "tests/relay/streams.test.ts",
      "tests/relay/waiting-pings.test.ts",
    ],
    least: 85,
  },
  {
    file: "src/server/relay/billing/call-billing.ts",
    tests: [
      "src/server/relay/billing/call-billing.test.ts",
      "src/server/relay/billing/call-billing-running.test.ts",
      "tests/relay/streams.test.ts",
      "tests/relay/limits-of-all.test.ts",
    ],
    least: 85,
  },
  {
    file: "src/server/features/token/authenticate.ts",
    tests: ["src/server/features/token/authenticate.test.ts"],
    least: 85,
  },
  { file: "src/server/lib/egress.ts", tests: ["src/server/lib/egress.test.ts"], least: 85 },
  {
    file: "src/server/relay/providers/redact.ts",
    tests: ["src/server/relay/providers/redact-secrets.test.ts", "src/server/relay/providers/redact.test.ts"],
    least: 85,
  },
  { file: "src/server/features/log/redact.ts", tests: ["src/server/features/log/redact.test.ts"], least: 85 },
  { file: "src/server/features/channel/present.ts", tests: ["src/server/features/channel/present.test.ts"], least: 85 },
  { file: "src/server/features/invite/present.ts", tests: ["src/server/features/invite/present.test.ts"], least: 85 },
  { file: "src/server/features/log/present.ts", tests: ["src/server/features/log/present.test.ts"], least: 85 },
  {
    file: "src/server/features/midjourney/present.ts",
    tests: ["src/server/features/midjourney/present.test.ts"],
    least: 85,
  },
  {
    file: "src/server/features/redemption/present.ts",
    tests: ["src/server/features/redemption/present.test.ts"],
    least: 85,
  },
  { file: "src/server/features/task/present.ts", tests: ["src/server/features/task/present.test.ts"], least: 85 },
  { file: "src/server/features/token/present.ts", tests: ["src/server/features/token/present.test.ts"], least: 85 },
  { file: "src/server/features/user/present.ts", tests: ["src/server/features/user/present.test.ts"], least: 85 },
];
