import { expect, test } from "bun:test";
import { VirtualTime } from "../../../../tests/relay/kit";
import { Alarm } from "./deadlines";

function make() {
  const time = new VirtualTime();
  const alarm = new Alarm(time.now, time.timers);
  const heard: string[] = [];
  alarm.onLimit = (phase) => heard.push(phase);
  alarm.onPing = () => heard.push("ping");
  return { time, alarm, heard };
}

test("the nearest limit is heard, once, and one timer serves them all", async () => {
  const { time, alarm, heard } = make();
  alarm.total(5_000);
  alarm.pings(2_000);
  alarm.limit("first byte", 3_000);
  expect(time.waiting).toBe(1);
  await time.advance(3_000);
  expect(heard).toEqual(["ping", "first byte"]);
  await time.advance(1_999);
  expect(heard).toEqual(["ping", "first byte", "ping"]);
  await time.advance(1);
  expect(heard).toEqual(["ping", "first byte", "ping", "total"]);
  alarm.clear();
  expect(time.waiting).toBe(0);
});

test("a limit moved later is heard later, and what was sent puts the ping off", async () => {
  const { time, alarm, heard } = make();
  alarm.pings(1_000);
  for (let i = 0; i < 10; i++) {
    alarm.limit("idle", 700);
    await time.advance(500);
    alarm.sent();
  }
  expect(heard).toEqual([]);
  await time.advance(200);
  expect(heard).toEqual(["idle"]);
  await time.advance(800);
  expect(heard).toEqual(["idle", "ping"]);
  alarm.clear();
  await time.advance(10_000);
  expect(heard).toEqual(["idle", "ping"]);
});
