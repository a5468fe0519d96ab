/** The unit that docs/deploy.md installs gives Weir what it needs and no more. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const path = join(import.meta.dir, "../../deploy/weir.service");
const lines = readFileSync(path, "utf8").split("\n");
const valuesOf = (name: string): string[] =>
  lines.flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));

test("the unit limits memory, system calls, new privileges and what of the machine can be seen or changed", () => {
  expect(valuesOf("MemoryMax")).toEqual(["80%"]);
  expect(valuesOf("SystemCallFilter")).toEqual(["@system-service", "~@privileged"]);
  // A refused call fails like on any system without it, and does not end the process.
  expect(valuesOf("SystemCallErrorNumber")).toEqual(["EPERM"]);
  for (const name of ["NoNewPrivileges", "RestrictSUIDSGID", "RestrictRealtime", "RestrictNamespaces", "PrivateUsers"])
    expect([name, valuesOf(name)]).toEqual([name, ["yes"]]);
  expect([valuesOf("ProtectSystem"), valuesOf("CapabilityBoundingSet")]).toEqual([["strict"], [""]]);
  // The runtime compiles JavaScript while it runs.
  expect(valuesOf("MemoryDenyWriteExecute")).toEqual([]);
});
