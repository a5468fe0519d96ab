import { expect, test } from "bun:test";
import { VirtualTime } from "../../../../tests/relay/kit";
import { Deadlines } from "./deadlines";

function make() {
  const time = new VirtualTime();
  const deadlines = new Deadlines(time.now, time.timers);
  const heard: string[] = [];
  deadlines.onLimit = (phase) => heard.push(phase);
  deadlines.onPing = () => heard.push("ping");
  return { time, deadlines, heard };
}

test("the nearest limit fires, once, and one timer serves them all", async () => {
  const { time, deadlines, heard } = make();
  deadlines.total(5_000);
  deadlines.pings(2_000);
  deadlines.limit("first byte", 3_000);
  expect(time.waiting).toBe(1);
  await time.advance(3_000);
  expect(heard).toEqual(["ping", "first byte"]);
  await time.advance(1_999);
  expect(heard).toEqual(["ping", "first byte", "ping"]);
  await time.advance(1);
  expect(heard).toEqual(["ping", "first byte", "ping", "total"]);
  deadlines.clear();
  expect(time.waiting).toBe(0);
});

test("a limit moved later fires later, and sending to the caller postpones the ping", async () => {
  const { time, deadlines, heard } = make();
  deadlines.pings(1_000);
  for (let i = 0; i < 10; i++) {
    deadlines.limit("idle", 700);
    await time.advance(500);
    deadlines.sent();
  }
  expect(heard).toEqual([]);
  await time.advance(200);
  expect(heard).toEqual(["idle"]);
  await time.advance(800);
  expect(heard).toEqual(["idle", "ping"]);
  deadlines.clear();
  await time.advance(10_000);
  expect(heard).toEqual(["idle", "ping"]);
});
