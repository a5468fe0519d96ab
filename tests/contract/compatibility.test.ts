/** docs/compatibility.md says of each call whether it is served; the routes say so too. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { restRoutes } from "../../src/server/http/rest";
import { appRouter } from "../../src/server/router";
import { sameCall } from "./specification";

const page = readFileSync(join(import.meta.dir, "../../docs/compatibility.md"), "utf8");
const [served = "", missing = ""] = page.split("### Not served");

/** Every `METHOD /api/path` in the first columns of a text's tables, as sameCall writes it. */
const callsIn = (text: string): string[] =>
  text.split("\n").flatMap((line) => {
    const [, first = ""] = line.split("|");
    return [...first.matchAll(/`(GET|POST|PUT|DELETE) (\/api\/[^`\s]*)`/g)].map(([, method = "", path = ""]) =>
      sameCall({ method, path }),
    );
  });

const mounted = new Set(restRoutes(appRouter).map(sameCall));

test("every call that the page names as served is mounted, and none that it names as missing", () => {
  expect(callsIn(served).filter((call) => !mounted.has(call))).toEqual([]);
  expect(callsIn(missing).length).toBeGreaterThan(10);
  expect(callsIn(missing).filter((call) => mounted.has(call))).toEqual([]);
});

test("the page names every answer that says off", () => {
  const off = restRoutes(appRouter).filter(({ procedure }) => procedure.startsWith("absent."));
  expect(off.map(sameCall).filter((call) => !callsIn(served).includes(call))).toEqual([]);
});
