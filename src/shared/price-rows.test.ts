import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { modelPrices } from "./model-prices";
import { defaultValue } from "./options";
import { priceChanges, readPrices, applyChanges, growthOf } from "./price-import";
import {
  builtInTables,
  changedOptions,
  numbersOf,
  priceKeys,
  type PriceNumbers,
  priceRows,
  type RatioTables,
  toDollars,
  toRatios,
  withNumbers,
} from "./price-rows";

const none: RatioTables = {
  ModelPrice: {},
  ModelRatio: {},
  CompletionRatio: {},
  CacheRatio: {},
  CreateCacheRatio: {},
  CreateCache1hRatio: {},
  ImageRatio: {},
  ImageCompletionRatio: {},
  AudioRatio: {},
  AudioCompletionRatio: {},
};

describe("dollars and ratios", () => {
  test("every vendor's price comes back in dollars as the vendor prints it", () => {
    for (const row of modelPrices) {
      const dollars = toDollars(numbersOf(builtInTables, row.model));
      const shown = [
        dollars.ModelRatio,
        row.output === undefined ? undefined : dollars.CompletionRatio,
        dollars.CacheRatio,
        dollars.CreateCacheRatio,
      ];
      expect(shown.map((value) => value?.toFixed(6))).toEqual(
        [row.input, row.output, row.cache_read, row.cache_write].map((value) => value?.toFixed(6)),
      );
      expect(dollars.AudioCompletionRatio?.toFixed(6)).toBe(row.audio_out?.toFixed(6));
    }
  });

  test("dollars become ratios and dollars again, to a hundred-thousandth of a dollar", () => {
    const usd = fc.integer({ min: 100, max: 1_000_000 }).map((value) => value / 10_000);
    fc.assert(
      fc.property(
        fc.record({
          ModelRatio: usd,
          CompletionRatio: usd,
          CacheRatio: usd,
          AudioRatio: usd,
          AudioCompletionRatio: usd,
        }),
        (dollars) => {
          const back = toDollars(toRatios(dollars) ?? {});
          for (const key of [
            "ModelRatio",
            "CompletionRatio",
            "CacheRatio",
            "AudioRatio",
            "AudioCompletionRatio",
          ] as const) {
            expect(Math.abs((back[key] ?? 0) - dollars[key])).toBeLessThan(1e-5);
          }
        },
      ),
    );
  });

  test("what no ratio can express is refused: a price beside a free input, and one beside no input", () => {
    expect(toRatios({ ModelRatio: 0, CompletionRatio: 3 })).toBeUndefined();
    expect(toRatios({ CacheRatio: 3 })).toBeUndefined();
    expect(toRatios({ ModelRatio: 0, CompletionRatio: 0 })).toEqual({ ModelRatio: 0, CompletionRatio: 1 });
    expect(toRatios({ ModelPrice: 0.04 })).toEqual({ ModelPrice: 0.04 });
  });
});

describe("rows", () => {
  const tables = {
    ...none,
    ModelRatio: { "gpt-4o": 1.25, mine: 3 },
    CompletionRatio: { "gpt-4o": 4, orphan: 2 },
    CacheRatio: { "gpt-4o": 0.5 },
  };

  test("every name of a table or a channel is one row with the source of its price", () => {
    const rows = priceRows(tables, ["gpt-4o", "new-model", "gizmo-1"], (name) => name === "gizmo-1");
    expect(rows.map(({ name, source, served }) => [name, source, served])).toEqual([
      ["gizmo-1", "built-in", true],
      ["gpt-4o", "built-in", true],
      ["mine", "custom", false],
      ["new-model", "unpriced", true],
      ["orphan", "unpriced", false],
    ]);
  });

  test("only the options whose table changed are written, each once", () => {
    const after = withNumbers(
      tables,
      new Map<string, PriceNumbers | undefined>([
        ["mine", { ModelRatio: 4 }],
        ["orphan", undefined],
        ["gpt-4o", numbersOf(tables, "gpt-4o")],
      ]),
    );
    expect(changedOptions(tables, after).map(({ key, value }) => [key, JSON.parse(value)])).toEqual([
      ["ModelRatio", { "gpt-4o": 1.25, mine: 4 }],
      ["CompletionRatio", { "gpt-4o": 4 }],
    ]);
    expect(changedOptions(tables, withNumbers(tables, new Map()))).toEqual([]);
  });

  test("the built-in tables are the options' defaults", () => {
    for (const key of priceKeys) expect(builtInTables[key]).toEqual(defaultValue(key));
  });
});

describe("prices from elsewhere", () => {
  const list = {
    success: true,
    data: [
      { model_name: "a", quota_type: 0, model_ratio: 2, model_price: 0, completion_ratio: 3 },
      { model_name: "b", quota_type: 1, model_ratio: 37.5, model_price: 0.1, completion_ratio: 1 },
      { model_name: "", quota_type: 0, model_ratio: 1 },
      { model_name: "bad", quota_type: 0, model_ratio: -1, completion_ratio: "4" },
      null,
      7,
    ],
  };

  test("rows of /api/pricing count by how they are billed; broken rows are left out", () => {
    expect([...(readPrices(list) ?? [])]).toEqual([
      ["a", { ModelRatio: 2, CompletionRatio: 3 }],
      ["b", { ModelPrice: 0.1 }],
    ]);
  });

  test("maps are read by the short names and by the options' names, with or without an envelope", () => {
    const expected = [["a", { ModelRatio: 2, CacheRatio: 0.1 }]];
    expect([
      ...(readPrices({ data: { model_ratio: { a: 2, " ": 1, b: null }, cache_ratio: { a: 0.1 } } }) ?? []),
    ]).toEqual(expected as never);
    expect([...(readPrices({ ModelRatio: { a: 2 }, CacheRatio: { a: 0.1 } }) ?? [])]).toEqual(expected as never);
  });

  test.each([
    [null],
    [[]],
    [{}],
    ["text"],
    [{ data: null }],
    [{ model_ratio: [] }],
    [{ model_ratio: { a: "1" } }],
    [{ success: false, message: "no" }],
  ])("%j is no list of prices", (json) => expect(readPrices(json)).toBeUndefined());

  test("a name like __proto__ is a name", () => {
    const incoming = readPrices(JSON.parse('{"ModelRatio":{"__proto__":2}}'));
    const after = applyChanges(none, priceChanges(none, incoming ?? new Map()));
    expect(JSON.stringify(after.ModelRatio)).toBe('{"__proto__":2}');
  });

  test("the difference keeps what the other side does not have, unless the kind of billing changes", () => {
    const tables = { ...none, ModelRatio: { a: 1, b: 1, same: 5 }, CacheRatio: { a: 0.2, b: 0.2 } };
    const incoming = new Map<string, PriceNumbers>([
      ["b", { ModelPrice: 0.1 }],
      ["a", { ModelRatio: 2 }],
      ["same", { ModelRatio: 5 }],
      ["fresh", { ModelRatio: 1 }],
    ]);
    const changes = priceChanges(tables, incoming);
    expect(changes.map(({ name, after, kind }) => [name, after, kind])).toEqual([
      ["a", { ModelRatio: 2, CacheRatio: 0.2 }, "changed"],
      ["b", { ModelPrice: 0.1 }, "changed"],
      ["fresh", { ModelRatio: 1 }, "new"],
    ]);
    expect(changes.map(growthOf)).toEqual([2, undefined, undefined]);
    expect(applyChanges(tables, changes.slice(0, 1))).toMatchObject({
      ModelRatio: { a: 2, b: 1, same: 5 },
      CacheRatio: tables.CacheRatio,
    });
  });
});
