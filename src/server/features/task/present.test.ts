import { expect, test } from "bun:test";
import { columnsIn, fullRow } from "../../../../tests/kit/full-row";
import { sqliteTables } from "../../db/schema";
import { parsed, presentJob, presentTask, presentTaskDetail, presentTaskRest } from "./present";

const row = fullRow(sqliteTables.tasks, {
  channel_id: 77,
  submit_time_ms: 1_999,
  start_time_ms: 2_000,
  finish_time_ms: 3_001,
  data: '{"shown":1}',
});

test("a job is shown to administrators with its channel, to its owner without", () => {
  expect(presentJob("all", row).channel_id).toBe(77);
  expect(presentJob("own", row).channel_id).toBe(0);
});

test("times are milliseconds in a job, and whole seconds in /api/task", () => {
  expect(presentJob("own", row)).toMatchObject({ submit_time: 1_999, start_time: 2_000, finish_time: 3_001 });
  expect(presentTask("own", row)).toMatchObject({ submit_time: 1, start_time: 2, finish_time: 3 });
});

test("a row of /api/task has the times and the input that existing front-ends read", () => {
  expect(presentTaskRest("own", row)).toEqual({
    ...presentTaskDetail("own", row),
    created_at: 1,
    updated_at: 3,
    properties: { input: row.prompt },
  });
  expect(presentTaskRest("own", { ...row, start_time_ms: 0, finish_time_ms: 0 }).updated_at).toBe(1);
});

test("nothing leaves of the engine's state and of what was asked", () => {
  const view = presentTaskDetail("all", row);
  expect(Object.keys(view).sort()).toEqual(
    [
      ...["action", "channel_id", "data", "fail_reason", "finish_time", "group", "id", "model", "platform", "progress"],
      ...[
        "prompt",
        "quota",
        "refunded",
        "request_id",
        "start_time",
        "status",
        "submit_time",
        "task_id",
        "user_id",
        "username",
      ],
    ].sort(),
  );
  const hidden = Object.keys(row).filter((column) => !columnsIn(view, row).includes(column));
  expect(hidden).toContain("state");
});

test("what the vendor told is JSON, null where there is none", () => {
  expect(presentTaskDetail("own", row).data).toEqual({ shown: 1 });
  for (const data of ["", "{"]) {
    expect(presentTaskDetail("own", { ...row, data }).data).toBeNull();
    expect(parsed(data)).toBeUndefined();
  }
});
