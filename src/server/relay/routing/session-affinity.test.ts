import { expect, test } from "bun:test";
import { SessionAffinity } from "./session-affinity";

test("conversations that are over are dropped as new ones come: their number follows the load of five minutes", () => {
  let now = 0;
  const affinity = new SessionAffinity(() => now);
  for (let i = 0; i < 1000; i++) affinity.set(`old ${i}`, 1);
  expect(affinity.size).toBe(1000);
  now = 299_999;
  affinity.set("still", 2);
  expect(affinity.size).toBe(1001);
  now = 300_000;
  for (let i = 0; i < 600; i++) affinity.set(`new ${i}`, 3);
  expect(affinity.size).toBe(601);
  expect([affinity.get("old 999"), affinity.get("still"), affinity.get("new 0")]).toEqual([undefined, 2, 3]);
});

test("a conversation that goes on is remembered from its last turn on", () => {
  let now = 0;
  const affinity = new SessionAffinity(() => now);
  affinity.set("a", 1);
  now = 200_000;
  affinity.set("a", 1);
  now = 400_000;
  affinity.set("b", 2);
  expect(affinity.get("a")).toBe(1);
});

test("however many conversations there are, the oldest make room beyond fifty thousand", () => {
  const affinity = new SessionAffinity(() => 0);
  for (let i = 0; i < 50_010; i++) affinity.set(String(i), i);
  expect(affinity.size).toBe(50_000);
  expect([affinity.get("9"), affinity.get("10")]).toEqual([undefined, 10]);
});
