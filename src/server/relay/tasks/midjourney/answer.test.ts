import { describe, expect, test } from "bun:test";
import { callerCode, isAccepted, readMjError, readSubmitAnswer, readTask } from "./answer";

describe("responses to a submit", () => {
  // midjourney-proxy docs/api.md section 2.
  const accepted = { code: 1, description: "成功", result: "8498455807619990" };
  const existed = {
    code: 21,
    description: "任务已存在",
    result: "0741798445574458",
    properties: { status: "SUCCESS", imageUrl: "https://xxxx" },
  };
  const queued = {
    code: 22,
    description: "排队中，前面还有1个任务",
    result: "0741798445574458",
    properties: { numberOfQueues: 1 },
  };
  const banned = { code: 24, description: "可能包含敏感词", properties: { promptEn: "nude body", bannedWord: "nude" } };

  test("accepted, existing and queued jobs count as accepted, with their id unchanged", () => {
    for (const body of [accepted, existed, queued]) {
      const answer = readSubmitAnswer(body);
      expect(answer?.upstream_id).toBe(body.result);
      expect(answer && isAccepted(answer, "IMAGINE")).toBe(true);
    }
    expect(readSubmitAnswer({ code: 1, result: 1320098173412546 })?.upstream_id).toBe("1320098173412546");
  });

  test("refusals are not accepted, and an acceptance without an id is invalid", () => {
    for (const body of [banned, { code: 23, result: "1" }, { code: 3 }]) {
      const answer = readSubmitAnswer(body);
      expect(answer && isAccepted(answer, "IMAGINE")).toBe(false);
    }
    for (const body of [{ code: 1 }, { code: 1, result: "" }, { code: 22, result: null }]) {
      const answer = readSubmitAnswer(body);
      expect(answer && isAccepted(answer, "IMAGINE")).toBeUndefined();
    }
  });

  test("an upload is accepted with a list of addresses", () => {
    const answer = readSubmitAnswer({ code: 1, description: "Submit success", result: ["https://cdn.example/a.png"] });
    expect(answer && isAccepted(answer, "UPLOAD")).toBe(true);
    expect(answer && isAccepted(answer, "IMAGINE")).toBeUndefined();
  });

  test("a gateway's error is an error, the vendor's own responses are not", () => {
    expect(readMjError({ description: "quota_not_enough", type: "upstream_error", code: 4 })).toEqual({
      message: "quota_not_enough",
      type: "upstream_error",
      code: "4",
      param: null,
    });
    expect(readMjError({ error: { message: "no", type: "x", code: "y" } })).toMatchObject({ message: "no" });
    for (const body of [accepted, existed, queued, banned, [], null, "x", {}])
      expect(readMjError(body)).toBeUndefined();
  });

  test("a response without a code is invalid", () => {
    for (const odd of [null, [], "ok", {}, { code: "1" }, { code: 1.5 }]) expect(readSubmitAnswer(odd)).toBeUndefined();
  });

  test("callers get 1 for 21 and 22, except for a modal that waits", () => {
    // spec: C-371
    expect([callerCode(21, "UPSCALE"), callerCode(22, "IMAGINE"), callerCode(1, "IMAGINE")]).toEqual([1, 1, 1]);
    // spec: C-371
    expect([callerCode(21, "INPAINT"), callerCode(21, "CUSTOM_ZOOM"), callerCode(22, "INPAINT")]).toEqual([21, 21, 1]);
    expect([callerCode(23, "IMAGINE"), callerCode(24, "IMAGINE"), callerCode(3, "IMAGINE")]).toEqual([23, 24, 3]);
  });
});

describe("task objects", () => {
  // midjourney-proxy docs/api.md section 5.
  const done = {
    id: "14001929738841620",
    action: "IMAGINE",
    status: "SUCCESS",
    prompt: "猫猫",
    promptEn: "Cat",
    description: "/imagine 猫猫",
    submitTime: 1689231405854,
    startTime: 1689231442755,
    finishTime: 1689231544312,
    progress: "100%",
    imageUrl: "https://cdn.discordapp.com/attachments/xxx/xxx/xxxx.png",
    failReason: null,
    properties: { finalPrompt: "Cat" },
  };

  test("the documented example is read", () => {
    expect(readTask(done)).toEqual({
      upstream_id: "14001929738841620",
      status: "SUCCESS",
      progress: "100%",
      fail_reason: "",
      file: done.imageUrl,
      start_time_ms: 1689231442755,
      finish_time_ms: 1689231544312,
      raw: done,
    });
  });

  test("a video is a file: a URL, a list, or a list in a string", () => {
    const film = "https://cdn.example/a.mp4";
    for (const member of [
      { videoUrl: film },
      { videoUrls: [film] },
      { videoUrls: [{ url: film }] },
      { videoUrls: JSON.stringify([{ url: film }]) },
    ]) {
      expect(readTask({ ...done, imageUrl: null, ...member })?.file).toBe(film);
    }
  });

  test("invalid members are ignored; only web addresses and data URLs of images are files", () => {
    const odd = {
      id: "1",
      status: "DANCING",
      progress: "soon",
      failReason: 5,
      imageUrl: "file:///etc/passwd",
      startTime: "x",
      finishTime: -1,
      videoUrls: "{",
    };
    expect(readTask(odd)).toMatchObject({
      status: undefined,
      progress: "",
      fail_reason: "",
      file: "",
      start_time_ms: 0,
      finish_time_ms: 0,
    });
    for (const none of [null, [], {}, { id: "" }, "x"]) expect(readTask(none)).toBeUndefined();
    expect(readTask({ id: "1", status: "constructor" })?.status).toBeUndefined();
    expect(readTask({ id: "1", status: "CANCEL" })?.status).toBe("FAILURE");
  });
});
