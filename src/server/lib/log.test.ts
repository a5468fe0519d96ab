import { expect, test } from "bun:test";
import { createLogger, lineWriter } from "./log";

test("lines that cannot be written wait in order, those beyond 1 MB are counted, and the count is logged when writing works again", async () => {
  let room = 10;
  let written = "";
  const write = lineWriter((bytes) => {
    if (room === 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
    const taken = bytes.subarray(0, room);
    room -= taken.length;
    written += Buffer.from(taken).toString();
    return taken.length;
  });
  write("first line\n");
  write("second\n");
  const large = `${"x".repeat(1024 * 1024)}\n`;
  write(large);
  write(large);
  room = Infinity;
  for (const limit = Date.now() + 5000; !written.includes("lost") && Date.now() < limit;) await Bun.sleep(10);
  expect(written).toStartWith("first line\nsecond\n{");
  expect(JSON.parse(written.split("\n")[2] ?? "")).toMatchObject({ level: "warn", lost: 2 });
  write("later\n");
  expect(written).toEndWith("\nlater\n");
});

test("an error of the database is logged with its statement and without the values, however deep it is nested", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "info", format: "json", destination: { write: (line) => void lines.push(line) } });
  const driver = Object.assign(new Error("Failed to connect"), { code: "ERR_POSTGRES_CONNECTION_REFUSED" });
  const query = Object.assign(new Error("Failed query: select 1\nparams: a-secret-hash", { cause: driver }), {
    query: "select 1",
    params: ["a-secret-hash"],
  });
  log.error({ err: query }, "failed");
  log.error({ err: new Error("outer", { cause: query }) }, "failed");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject(
    [1, 2].map(() => ({ err: { message: "Failed to connect", query: "select 1" } })),
  );
  expect(lines.join("")).not.toContain("a-secret-hash");
});
