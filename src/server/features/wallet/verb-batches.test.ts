/** What goes into one batch, in which order, and what becomes of a batch that fails. No database. */
import { afterEach, expect, mock, spyOn, test } from "bun:test";
import type { Connections } from "../../db/connection-types";
import { type Send, VerbBatches } from "./verb-batches.pg";

interface Verb {
  request_id: string;
  user_id: number;
  rank: number;
}
interface Sent {
  number: number;
  again: boolean;
  ids: string[];
  answer(): void;
  fail(error: unknown): void;
}

/** What a test left open is answered. */
const finish: (() => Promise<void>)[] = [];
afterEach(async () => {
  mock.restore();
  for (const one of finish.splice(0)) await one();
});

const connections = { within: () => connections } as unknown as Connections;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
let names = 0;
const verb = (user_id: number, request_id = `r${++names}`, rank = 0): Verb => ({ user_id, request_id, rank });

/** Batches whose answers the test gives: the answer to a verb is its request id. */
function held() {
  const sent: Sent[] = [];
  const send: Send<Verb, string> = (_, { number, again, verbs }) =>
    new Promise((resolve, reject) => {
      const ids = verbs.map(({ request_id }) => request_id);
      sent.push({ number, again, ids, answer: () => resolve(ids), fail: reject });
    });
  const batches = new VerbBatches<Verb, string>(connections, send);
  finish.push(async () => {
    for (await turn(); batches.size > 0; await turn()) for (const one of sent) one.answer();
  });
  return { sent, batches };
}

test("a verb that is alone is sent at the end of its turn, and those that arrive meanwhile are the next batch", async () => {
  const { sent, batches } = held();
  const first = batches.run(verb(1, "a"));
  await turn();
  expect(sent.map(({ ids }) => ids)).toEqual([["a"]]);
  const others = ["b", "c", "d"].map((id) => batches.run(verb(1, id)));
  await turn();
  expect(sent).toHaveLength(1);
  sent[0]?.answer();
  expect(await first).toBe("a");
  await turn();
  expect(sent.map(({ ids }) => ids)).toEqual([["a"], ["b", "c", "d"]]);
  expect(batches.size).toBe(3);
  sent[1]?.answer();
  expect(await Promise.all(others)).toEqual(["b", "c", "d"]);
  expect(batches.size).toBe(0);
});

test("ends come before what takes, else the order is that of arrival", async () => {
  const { sent, batches } = held();
  void batches.run(verb(1, "hold", 2));
  void batches.run(verb(1, "extend", 1));
  void batches.run(verb(1, "settle", 0));
  void batches.run(verb(1, "release", 0));
  await turn();
  expect(sent[0]?.ids).toEqual(["settle", "release", "extend", "hold"]);
});

test("while a user's batch is under way, a second lane takes the others and nothing of that user", async () => {
  const { sent, batches } = held();
  void batches.run(verb(1, "hot"));
  await turn();
  void batches.run(verb(1, "hot again"));
  void batches.run(verb(2, "quiet"));
  await turn();
  expect(sent.map(({ ids }) => ids)).toEqual([["hot"], ["quiet"]]);
  void batches.run(verb(3, "third"));
  await turn();
  expect(sent).toHaveLength(2);
  sent[1]?.answer();
  await turn();
  expect(sent[2]?.ids).toEqual(["third"]);
});

test("one user with a thousand verbs does not keep others out of the next batch", async () => {
  const { sent, batches } = held();
  void batches.run(verb(1, "first"));
  void batches.run(verb(2, "second"));
  await turn();
  for (let i = 0; i < 1000; i++) void batches.run(verb(1));
  for (let user = 3; user < 13; user++) void batches.run(verb(user, `of ${user}`));
  sent[0]?.answer();
  await turn();
  const next = sent.flatMap(({ ids }) => ids);
  for (let user = 3; user < 13; user++) expect(next).toContain(`of ${user}`);
  for (const { ids } of sent) expect(ids.length).toBeLessThanOrEqual(64);
});

test("more users than a batch holds take turns", async () => {
  const { sent, batches } = held();
  for (let round = 0; round < 3; round++)
    for (let user = 1; user <= 80; user++) void batches.run(verb(user, `${user}/${round}`));
  for (let i = 0; i < 4; i++) {
    await turn();
    sent[i]?.answer();
  }
  await turn();
  const firsts = sent.flatMap(({ ids }) => ids).filter((id) => id.endsWith("/0"));
  expect(firsts).toHaveLength(80);
});

test("a request is in a batch once: its next verb waits", async () => {
  const { sent, batches } = held();
  void batches.run(verb(1, "same"));
  void batches.run(verb(1, "same"));
  void batches.run(verb(0, "same"));
  for (let i = 0; i < 3; i++) {
    await turn();
    sent[i]?.answer();
  }
  await turn();
  expect(sent.map(({ ids }) => ids)).toEqual([["same"], ["same"], ["same"]]);
});

test("of a batch with a verb that cannot be written, that verb alone fails", async () => {
  const sent: string[][] = [];
  const batches = new VerbBatches<Verb, string>(connections, async (_, { verbs }) => {
    const ids = verbs.map(({ request_id }) => request_id);
    sent.push(ids);
    if (ids.includes("poison")) throw Object.assign(new Error("refused"), { errno: "22P02" });
    return ids;
  });
  const ids = ["a", "b", "c", "poison", "d", "e", "f", "g"];
  const results = await Promise.allSettled(ids.map((id) => batches.run(verb(1, id))));
  expect(results.map(({ status }) => status === "rejected")).toEqual(ids.map((id) => id === "poison"));
  expect(sent.length).toBeLessThan(ids.length);
  expect(batches.size).toBe(0);
});

test("after a lost connection the same batch is sent again, under its number and marked as repeated", async () => {
  spyOn(Bun, "sleep").mockImplementation((async () => undefined) as typeof Bun.sleep);
  const { sent, batches } = held();
  const asked = [batches.run(verb(1, "a")), batches.run(verb(2, "b"))];
  await turn();
  sent[0]?.fail({ code: "database_unavailable" });
  await turn();
  void batches.run(verb(3, "c"));
  await turn();
  sent[1]?.answer();
  expect(await Promise.all(asked)).toEqual(["a", "b"]);
  expect(sent.slice(0, 2)).toMatchObject([
    { number: 1, again: false, ids: ["a", "b"] },
    { number: 1, again: true, ids: ["a", "b"] },
  ]);
});

test("a verb that waits behind a silent database gets its error after ten seconds, and is not sent later", async () => {
  const real = performance.now.bind(performance);
  let ahead = 0;
  spyOn(performance, "now").mockImplementation(() => real() + ahead);
  const { sent, batches } = held();
  const first = batches.run(verb(1, "sent"));
  await turn();
  const second = batches.run(verb(1, "behind"));
  await turn();
  ahead = 9_000;
  const late = batches.run(verb(1, "late"));
  ahead = 10_500;
  const away = { status: "rejected", reason: { code: "database_unavailable" } };
  expect(await Promise.allSettled([first, second])).toMatchObject([away, away]);
  expect(batches.size).toBe(1);
  sent[0]?.answer();
  await turn();
  expect(sent[1]?.ids).toEqual(["late"]);
  sent[1]?.answer();
  expect(await late).toBe("late");
  await batches.flush();
});
