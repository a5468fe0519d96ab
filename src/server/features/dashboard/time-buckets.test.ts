import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { GRANULARITIES } from "../../../shared/dashboard";
import { bucketOf, bucketSql, bucketsOf, stretches } from "./time-buckets";

const at = (iso: string): number => Date.parse(iso) / 1000;
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 16);
const HOUR = 3600;

describe("days of a time zone", () => {
  test("begin at its own midnight", () => {
    const [start, end] = [at("2026-11-19T16:00Z"), at("2026-11-21T16:00Z")];
    const days = bucketsOf("day", stretches("Asia/Shanghai", start, end), start, end);
    expect(days.map((d) => [iso(d.start), iso(d.end)])).toEqual([
      ["2026-11-19T16:00", "2026-11-20T16:00"],
      ["2026-11-20T16:00", "2026-11-21T16:00"],
    ]);
  });

  test("have 23 and 25 hours where the clocks change (Europe/Berlin, 2026-03-29 and 2026-10-25)", () => {
    const lengths = (from: string, to: string) => {
      const [start, end] = [at(from), at(to)];
      return bucketsOf("day", stretches("Europe/Berlin", start, end), start, end).map((d) => (d.end - d.start) / HOUR);
    };
    expect(lengths("2026-03-27T23:00Z", "2026-03-30T22:00Z")).toEqual([24, 23, 24]);
    expect(lengths("2026-10-23T22:00Z", "2026-10-26T23:00Z")).toEqual([24, 25, 24]);
  });

  test("include the whole hour across midnight where the zone is half an hour off", () => {
    const [start, end] = [at("2026-11-20T10:00Z"), at("2026-11-21T10:00Z")];
    const days = bucketsOf("day", stretches("Asia/Kolkata", start, end), start, end);
    expect(days.map((d) => iso(d.start))).toEqual(["2026-11-20T10:00", "2026-11-20T19:00"]);
  });
});

describe("weeks", () => {
  test("begin on Monday, and a range cuts the first and the last short", () => {
    const [start, end] = [at("2026-11-18T00:00Z"), at("2026-12-01T00:00Z")];
    const weeks = bucketsOf("week", stretches("UTC", start, end), start, end);
    expect(weeks.map((w) => iso(w.start))).toEqual(["2026-11-18T00:00", "2026-11-23T00:00", "2026-11-30T00:00"]);
    expect(weeks.at(-1)?.end).toBe(end);
  });
});

describe("SQL and arithmetic", () => {
  const db = new Database(":memory:");
  // Clocks that change, one that changed in the middle of a day, half hours, far east and far west.
  const zones = [
    "UTC",
    "Asia/Shanghai",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Pacific/Kiritimati",
    "Pacific/Pago_Pago",
    "Africa/Casablanca",
  ];

  test.each(GRANULARITIES)("number every hour of a year alike: %s", (granularity) => {
    const [start, end] = [at("2025-12-31T05:00Z"), at("2027-01-02T11:00Z")];
    for (const zone of zones) {
      const parts = stretches(zone, start, end);
      const rows = db
        .query<{ hour: number; bucket: number }, []>(
          `WITH RECURSIVE h(hour) AS (SELECT ${start} UNION ALL SELECT hour + ${HOUR} FROM h WHERE hour + ${HOUR} < ${end})
           SELECT hour, ${bucketSql(granularity, parts, "hour")} AS bucket FROM h`,
        )
        .all();
      const numbers = new Set(bucketsOf(granularity, parts, start, end).map((bucket) => bucket.number));
      for (const { hour, bucket } of rows) {
        if (bucketOf(granularity, parts, hour) !== bucket || !numbers.has(bucket))
          throw new Error(`${zone} ${iso(hour)}: ${bucket}`);
      }
      expect(numbers.size).toBe(new Set(rows.map((row) => row.bucket)).size);
    }
  });

  test("agree with the calendar of the zone on every hour's day", () => {
    const [start, end] = [at("2026-03-01T00:00Z"), at("2026-12-01T00:00Z")];
    for (const zone of zones) {
      const parts = stretches(zone, start, end);
      const calendar = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" });
      for (let hour = start; hour < end; hour += HOUR) {
        const day = new Date(bucketOf("day", parts, hour) * 86_400_000).toISOString().slice(0, 10);
        if (day !== calendar.format(hour * 1000)) throw new Error(`${zone} ${iso(hour)}: ${day}`);
      }
    }
    expect(zones.length).toBe(8);
  });
});
