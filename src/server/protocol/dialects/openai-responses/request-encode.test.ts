import { expect, test } from "bun:test";
import { translateRequest } from "../../translate";

test("a file that a chat caller has uploaded keeps its id in Responses, and another vendor's is refused", () => {
  const messages = [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }];
  expect(translateRequest("openai-chat", "openai-responses", { messages }, "gpt-5.5").body.input).toMatchObject([
    { role: "user", content: [{ type: "input_file", file_id: "file-1" }] },
  ]);
  const theirs = { role: "user", content: [{ type: "document", source: { type: "file", file_id: "file_01" } }] };
  const call = { max_tokens: 9, messages: [theirs] };
  expect(() => translateRequest("anthropic", "openai-responses", call, "gpt-5.5")).toThrow("takes no file");
});
