import { describe, expect, test } from "bun:test";
import Papa from "papaparse";
import { addUp, dayOf, presetOf, reconcile, sameModel } from "./reconciliation";

// Columns as the vendors' consoles export them, November 2026; amounts are made up.
const OPENAI = `start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,user_id,api_key_id,project_id
1790553600,1790640000,2026-09-28T00:00:00+00:00,2026-09-29T00:00:00+00:00,0.50000000000000000,usd,,,"gpt-4o-2024-08-06, input",,,
1790553600,1790640000,2026-09-28T00:00:00+00:00,2026-09-29T00:00:00+00:00,1.25,usd,,,"gpt-4o-2024-08-06, output",,,
1790467200,1790553600,2026-09-27T00:00:00+00:00,2026-09-28T00:00:00+00:00,,,,,,,,
`;
const ANTHROPIC = `usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd
2026-08-04,Claude Haiku 4.5,Default,demo-key,message,≤ 200k,input_no_cache,0.05,0.05
2026-08-04,Claude Haiku 4.5,Default,demo-key,message,≤ 200k,output,0.02,0.02
`;

const read = (text: string) => {
  const { data, meta } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true });
  const preset = presetOf(meta.fields ?? []);
  return { name: preset?.name, ...addUp(data, preset?.mapping ?? { day: "", model: "", cost: "" }) };
};

describe("a vendor's usage export", () => {
  test("OpenAI's and Anthropic's are recognised by their columns and added up by day and model", () => {
    expect(read(OPENAI)).toEqual({
      name: "OpenAI",
      rows: [{ day: "2026-09-28", model: "gpt-4o", cost: 1.75 }],
      skipped: 1,
    });
    const { name, rows } = read(ANTHROPIC);
    expect([name, rows.map(({ day, model, cost }) => [day, model, Number(cost.toFixed(6))])]).toEqual([
      "Anthropic",
      [["2026-08-04", "claude-haiku-4-5", 0.07]],
    ]);
    expect(presetOf(["a", "b"])).toBeUndefined();
  });

  test("dates are ISO dates, ISO times or epoch seconds, and nothing else", () => {
    expect(["2026-02-28", "2026-02-28T23:59:59Z", "1790553600"].map(dayOf)).toEqual([
      "2026-02-28",
      "2026-02-28",
      "2026-09-28",
    ]);
    expect(["", "28.02.2026", "2026-02-30", "12", "20260228x"].map(dayOf)).toEqual(Array(5).fill(undefined));
  });

  test("spellings of one model meet, versions do not", () => {
    expect(
      new Set(["Claude Haiku 4.5", "claude-haiku-4-5-20251001", "anthropic/claude-haiku-4.5"].map(sameModel)).size,
    ).toBe(1);
    expect(sameModel("gpt-4o")).not.toBe(sameModel("gpt-4o-mini"));
    expect(sameModel("claude-haiku-4-5")).not.toBe(sameModel("claude-haiku-4-6"));
  });
});

test("a day drifts when both sides differ by more than a hundredth and more than a cent", () => {
  const day = "2026-11-01";
  const rows = [
    { day, model: "same", cost: 100 },
    { day, model: "near", cost: 100 },
    { day, model: "far", cost: 100 },
    { day, model: "tiny", cost: 0.01 },
    { day, model: "theirs", cost: 5 },
  ];
  const counted = [
    { day, model: "same", cost: 100, unknown: 0 },
    { day, model: "near", cost: 99.1, unknown: 0 },
    { day, model: "far", cost: 98.9, unknown: 3 },
    { day, model: "tiny", cost: 0.002, unknown: 0 },
    { day: "2026-11-02", model: "ours", cost: 7, unknown: 0 },
  ];
  const report = reconcile({ title: "t", channels: [1], rows }, counted);
  expect(report.rows.filter(({ flagged }) => flagged).map(({ model }) => model)).toEqual(["far", "theirs", "ours"]);
  expect([report.vendor, report.counted, report.flagged]).toEqual([305.01, 305.002, 3]);
});
