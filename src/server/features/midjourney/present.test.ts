import { expect, test } from "bun:test";
import { fullRow } from "../../../../tests/kit/full-row";
import { sqliteTables } from "../../db/schema";
import { presentDrawing } from "./present";

const IMAGE = "https://vendor.example/picture.png";
const task = { imageUrl: IMAGE, promptEn: "a cat", state: "s", description: "theirs", buttons: [{ id: 1 }] };
const drawing = (data: object, more: object = {}, forward = false) =>
  presentDrawing(
    {
      options: {
        get: ((key: string) => (key === "ServerAddress" ? "https://weir.example//" : forward)) as never,
      } as never,
    },
    "own",
    fullRow(sqliteTables.tasks, {
      task_id: "t1",
      status: "IN_PROGRESS",
      polls: 3,
      data: JSON.stringify(data),
      ...more,
    }),
  );

test("a drawing shows what the vendor told of it", () => {
  expect(drawing({ code: 1, task, properties: { a: 1 } })).toMatchObject({
    mj_id: "t1",
    code: 1,
    description: "theirs",
    prompt_en: "a cat",
    state: "s",
    image_url: IMAGE,
    buttons: '[{"id":1}]',
    properties: '{"a":1}',
  });
  expect(drawing({ description: "ours", task })).toMatchObject({ description: "ours" });
  expect(drawing({ task: { ...task, properties: { b: 2 } }, properties: { a: 1 } })).toMatchObject({
    properties: '{"b":2}',
  });
});

test("what was not told is empty", () => {
  expect(drawing({})).toMatchObject({ description: "", prompt_en: "", image_url: "", buttons: "", properties: "{}" });
  for (const buttons of [null, "text", 7]) expect(drawing({ task: { buttons } }).buttons).toBe("");
});

test("with MjForwardUrlEnabled the picture is where this server shows it: a new one with each look until it is done", () => {
  const url = (status: string): string => drawing({ task }, { status }, true).image_url;
  expect(url("IN_PROGRESS")).toMatch(/^https:\/\/weir\.example\/[^/].*t1\?rand=3$/);
  for (const status of ["SUCCESS", "FAILURE"])
    expect([status, url(status)]).toMatchObject([status, expect.stringMatching(/t1$/)]);
  expect(drawing({}, {}, true).image_url).toBe("");
});
