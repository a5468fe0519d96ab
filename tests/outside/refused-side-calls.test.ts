/**
 * A refused call leaves a row in the log, also where it is no model call: counts of tokens, stored responses, files,
 * jobs of others, batches.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LOG_TYPE } from "../../src/shared/log";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";

const messages = [{ role: "user", content: "hello" }];
/** The refused call, and the code and the model of its row. */
const calls: readonly [method: string, path: string, body: object | string | undefined, code: string, model: string][] =
  [
    ["POST", "/v1/messages/count_tokens", { model: "unknown", messages }, "model_not_found", "unknown"],
    ["POST", "/v1/messages/count_tokens", { messages }, "model_missing", ""],
    ["POST", "/v1/messages/count_tokens", "{", "bad_json", ""],
    ["POST", "/v1beta/models/unknown:countTokens", { contents: [] }, "model_not_found", "unknown"],
    ["POST", "/v1/responses/input_tokens", { model: "unknown", input: "hello" }, "model_not_found", "unknown"],
    ["GET", "/v1/responses/resp_unknown", undefined, "response_not_found", ""],
    ["DELETE", "/v1/responses/resp_unknown", undefined, "response_not_found", ""],
    ["GET", "/v1/files/file-unknown", undefined, "file_not_found", ""],
    ["GET", "/v1/videos/video_unknown", undefined, "task_not_found", ""],
    ["GET", "/v1/batches/batch_unknown", undefined, "batch_not_found", ""],
  ];

describe.each(ENGINES)("refused side calls on %s", (engine) => {
  let weir: Weir;
  let key = "";
  beforeAll(async () => {
    weir = await startWeir({ engine });
    ({ key } = await weir.newToken());
  }, 60_000);
  afterAll(() => weir.stop());

  test.each(calls)("%s %s %j leaves one row with the code %s", async (method, path, body, code, model) => {
    const answer = await fetch(weir.url + path, {
      method,
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    await answer.text();
    expect(answer.ok).toBe(false);
    const id = answer.headers.get("x-request-id");
    const row = await weir.waitForLog((one) => one.request_id === id);
    expect(row).toMatchObject({ type: LOG_TYPE.error, code, model_name: model, quota: 0, end_reason: "refused" });
    expect(JSON.parse(row.other)).toMatchObject({ request_path: path.split("?")[0], end_reason: "refused" });
    expect((await weir.logs()).filter((one) => one.request_id.startsWith(row.request_id))).toHaveLength(1);
  });

  test("a key that its limits refuse at such a door has a row too", async () => {
    const limited = await weir.newToken({ rpm: 1 });
    const ask = (): Promise<Response> =>
      fetch(`${weir.url}/v1/files`, { headers: { authorization: `Bearer ${limited.key}` } });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    await refused.text();
    expect(refused.status).toBe(429);
    const id = refused.headers.get("x-request-id");
    expect(await weir.waitForLog((row) => row.request_id === id)).toMatchObject({ code: "rate_limited_requests" });
  });
});
