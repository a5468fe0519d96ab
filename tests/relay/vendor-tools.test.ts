/** Tools on channels with vendor dialects: a call, and the turn that returns its result. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { channelType } from "../../src/shared/channel-types";
import { FIXTURES } from "../translation/streams";
import { makeBench, makeChannel } from "./kit";

const tool = {
  name: "get_weather",
  description: "d",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

const vendors = [
  {
    type: 23,
    key: "1|id|secret",
    model: "hunyuan-turbos-latest",
    fixture: "tencent.tools.sse",
    second: (id: string) => ({
      Messages: [
        { Role: "user", Content: "weather?" },
        {
          Role: "assistant",
          Content: "",
          ToolCalls: [
            { Id: id, Type: "function", Function: { Name: "get_weather", Arguments: '{"city":"上海"}' }, Index: 0 },
          ],
        },
        { Role: "tool", Content: "sunny", ToolCallId: id },
        { Role: "user", Content: "go on" },
      ],
    }),
  },
  {
    type: 15,
    key: "key|secret",
    model: "ERNIE-4.0-8K",
    fixture: "baidu.function.sse",
    second: () => ({
      messages: [
        { role: "user", content: "weather?" },
        { role: "assistant", content: "", function_call: { name: "get_weather", arguments: '{"city":"上海"}' } },
        { role: "function", name: "get_weather", content: "sunny\n\ngo on" },
      ],
    }),
  },
] as const;

for (const { type: number, key, model, fixture, second } of vendors) {
  const type = channelType(number);
  if (!type) throw new Error(`no channel type ${number}`);
  describe(type.key, () => {
    test("streams a tool call to an Anthropic caller, and accepts its result in the next turn", async () => {
      const stream = readFileSync(join(FIXTURES, fixture));
      const bodies: unknown[] = [];
      const fetch = async (url: string, init: BunFetchRequestInit) => {
        if (url.includes("/oauth/")) return Response.json({ access_token: "t", expires_in: 3600 });
        bodies.push(JSON.parse(Buffer.from(init.body as Uint8Array).toString()));
        return new Response(stream, { headers: { "content-type": "text/event-stream" } });
      };
      const bench = makeBench([makeChannel(1, "http://up.test", { type, key })], { fetch });
      const ask = async (messages: unknown[]) =>
        (await bench.send("/v1/messages", { model, max_tokens: 100, stream: true, tools: [tool], messages })).text();

      const text = await ask([{ role: "user", content: "weather?" }]);
      const frames = text
        .split("\n")
        .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as Record<string, never>] : []));
      const opened = frames
        .map((frame) => frame.content_block as { type: string; id: string; name: string } | undefined)
        .find((block) => block?.type === "tool_use");
      expect(opened?.name).toBe("get_weather");
      expect(
        frames.map((frame) => (frame.delta as { partial_json?: string } | undefined)?.partial_json ?? "").join(""),
      ).toBe('{"city":"上海"}');
      expect(text).toContain('"stop_reason":"tool_use"');

      const id = String(opened?.id);
      await ask([
        { role: "user", content: "weather?" },
        { role: "assistant", content: [{ type: "tool_use", id, name: "get_weather", input: { city: "上海" } }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: id, content: "sunny" },
            { type: "text", text: "go on" },
          ],
        },
      ]);
      await bench.quiet();
      // Without the thoughts that an answer may have stored in the id of its call.
      expect(bodies[1]).toMatchObject(second("call_1"));
      expect(bench.ledger.settlements.map(({ log }) => log.end_reason)).toEqual(["complete", "complete"]);
    });
  });
}
