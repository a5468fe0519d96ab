import { expect, test } from "bun:test";
import * as fc from "fast-check";
import { tokenKinds, type Usage } from "../../shared/pricing";
import { checkUsage, isPlain } from "./usage-check";

const count = fc.oneof(
  { weight: 20, arbitrary: fc.nat(1000) },
  { weight: 1, arbitrary: fc.nat(3_000_000) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
);
const tokens: fc.Arbitrary<Usage> = fc.record(Object.fromEntries(tokenKinds.map((kind) => [kind, count])), {
  requiredKeys: [],
});
const usages: fc.Arbitrary<Usage> = fc
  .tuple(tokens, fc.nat(9))
  .map(([usage, tools]) => (tools === 0 ? { ...usage, server_tools: { web_search: 1 } } : usage));

test("usage that is plain is charged as it was counted, whatever else is known of the call", () => {
  let plain = 0;
  fc.assert(
    fc.property(usages, fc.nat(100), fc.boolean(), (usage, max_output, hidden) => {
      if (!isPlain(usage)) return;
      plain++;
      const facts = {
        estimate: { input: (): Usage => ({ input: 1 }), output: (): Usage => ({ output: 1 }) },
        max_output,
        hidden: () => hidden,
      };
      expect(checkUsage(usage, facts)).toEqual({ usage, estimated: false, doubts: [] });
    }),
    { numRuns: 2000 },
  );
  expect(plain).toBeGreaterThan(50);
});
