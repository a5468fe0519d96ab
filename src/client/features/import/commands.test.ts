import { expect, test } from "bun:test";
import { importCommands, KEPT_LOGS, SOURCE_KINDS } from "./commands";

test("no command of any source has a password in its arguments", () => {
  for (const kind of SOURCE_KINDS)
    for (const logs of KEPT_LOGS)
      for (const line of Object.values(importCommands(kind, logs)).flatMap((text) => text.split("\n")))
        if (line.startsWith("weir ")) expect(line).not.toContain("password");
});

test("a server's address goes through a variable, and kept rows are asked for in the run alone", () => {
  expect(importCommands("mysql", "90d")).toEqual({
    look: "export SOURCE='mysql://user:password@host:3306/oneapi'\nweir import env:SOURCE --dry-run",
    run: "weir import env:SOURCE --decisions decisions.json --logs 90d",
    check: "weir audit",
  });
  expect(importCommands("sqlite", "none").run).toBe("weir import ./one-api.db --decisions decisions.json");
});
