import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Journal, JOURNAL_BYTES, openJournal, type Place } from "./journal";

let folder: string;
const open: Journal[] = [];
const opened = (): Journal => {
  const journal = openJournal(folder);
  open.push(journal);
  return journal;
};
const closeAll = (): void => {
  for (const journal of open.splice(0)) journal.close();
};
const texts = (journal: Journal): string[] => journal.found.map(({ text }) => text).sort();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-journal-"));
});
afterEach(() => {
  closeAll();
  rmSync(folder, { recursive: true, force: true });
});

test("it has its whole size on disk from the start, and is readable for its owner only", () => {
  const { path } = opened();
  const { size, blocks, mode } = statSync(path);
  expect([size, mode & 0o777]).toEqual([JOURNAL_BYTES, 0o600]);
  // Blocks of 512 bytes: no holes.
  expect(blocks * 512).toBeGreaterThanOrEqual(JOURNAL_BYTES);
});

test("in whatever order records are appended and freed, those not freed are found again, whole", async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: "grapheme", maxLength: 3000 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 50 }) },
  );
  let expected: string[] = [];
  let places: { text: string; place: Place }[] = [];
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const journal = opened();
      expect(texts(journal)).toEqual(expected.toSorted());
      places = [...journal.found];
      for (const next of steps) {
        if (typeof next === "string") {
          const place = journal.append(next);
          if (place) places.push({ text: next, place });
        } else places.splice(next, 1)[0]?.place.free();
      }
      await journal.sync();
      expected = places.map(({ text }) => text);
      closeAll();
    }),
    { numRuns: 40 },
  );
});

test("a full journal refuses records, and freed room is used again", () => {
  const journal = opened();
  const text = "x".repeat(100_000);
  const places: Place[] = [];
  for (let place = journal.append(text); place; place = journal.append(text)) places.push(place);
  expect(places.length).toBe(Math.floor(JOURNAL_BYTES / (Math.ceil(100_016 / 512) * 512)));
  expect(journal.used()).toBeGreaterThan(0.99);
  places[17]?.free();
  places[17]?.free();
  expect(journal.append(text)).toBeDefined();
  expect(journal.append(text)).toBeUndefined();
});

test("a text that looks like a record is not taken for one", () => {
  const journal = opened();
  journal.append(`${"y".repeat(512 - 16)}\u00ffWJ\u0001${"z".repeat(600)}`);
  closeAll();
  expect(opened()).toMatchObject({ torn: 0, found: { length: 1 } });
});

test("a record whose bytes have changed is skipped and counted", () => {
  const journal = opened();
  for (const text of ["first", "second", "third"]) journal.append(text);
  closeAll();
  const bytes = readFileSync(journal.path);
  bytes.write("damage", bytes.indexOf("second"));
  writeFileSync(journal.path, bytes);
  const again = opened();
  expect([texts(again), again.torn]).toEqual([["first", "third"], 1]);
});

test("two processes have a file each; a later one takes over the file of one that has ended", () => {
  const [first, second] = [opened(), opened()];
  expect(first.path).not.toBe(second.path);
  first.append("of the first");
  second.append("of the second");
  second.close();
  open.pop();
  const third = opened();
  expect([third.path, texts(third)]).toEqual([second.path, ["of the second"]]);
  closeAll();
  expect(texts(opened())).toEqual(["of the first", "of the second"]);
});
