import "../../../../tests/dom";
import { afterEach, describe, expect, test } from "bun:test";
import { addChunk, ChatError, type ChatBody, type Progress } from "./chat-call";
import { branchAt, messagesFor, newConversation, newTurn, type Turn, turnsBefore, withAnswer } from "./conversation";
import { snippetsOf } from "./snippets";
import {
  DEFAULT_SETTINGS,
  readConversations,
  readSettings,
  usableModels,
  writeConversations,
  writeSettings,
} from "./storage";

afterEach(() => localStorage.clear());

const answered = (text: string, ...answers: string[]): Turn => {
  const turn = newTurn(
    text,
    [],
    answers.map((_, index) => `m${index}`),
  );
  return {
    ...turn,
    answers: turn.answers.map((answer, index) => ({ ...answer, state: "complete", text: answers[index] ?? "" })),
  };
};

describe("what a call carries", () => {
  test("each compared model sees its own answers, and the first one's where it had none", () => {
    const turns = [answered("one", "a1", "b1"), answered("two", "a2"), newTurn("three", [], ["m0", "m1"])];
    expect(messagesFor(turns, 1, "be brief")).toEqual([
      { role: "system", content: "be brief" },
      { role: "user", content: "one" },
      { role: "assistant", content: "b1" },
      { role: "user", content: "two" },
      { role: "assistant", content: "a2" },
      { role: "user", content: "three" },
    ]);
  });

  test("an empty system prompt and an answer without text are left out", () => {
    expect(messagesFor([answered("one", ""), newTurn("two", [], ["m"])], 0, "  ")).toEqual([
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ]);
  });

  test("pictures go as parts beside the text", () => {
    expect(messagesFor([newTurn("see", ["data:image/png;base64,AA"], ["m"])], 0, "")).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
    ]);
  });

  test("editing a turn keeps what was before it, a branch what was up to it", () => {
    const conversation = {
      ...newConversation(),
      turns: [answered("one", "a"), answered("two", "b"), answered("three", "c")],
    };
    const second = conversation.turns[1]?.id ?? "";
    expect(turnsBefore(conversation, second).map((turn) => turn.text)).toEqual(["one"]);
    const branch = branchAt(conversation, second);
    expect(branch.turns.map((turn) => turn.text)).toEqual(["one", "two"]);
    expect(branch.id).not.toBe(conversation.id);
  });

  test("a change of an answer leaves every other turn the same object", () => {
    const conversation = { ...newConversation(), turns: [answered("one", "a"), answered("two", "b")] };
    const changed = withAnswer(conversation, conversation.turns[1]?.answers[0]?.id ?? "", (answer) => ({
      ...answer,
      text: "B",
    }));
    expect(changed.turns[0]).toBe(conversation.turns[0] as Turn);
    expect(changed.turns[1]?.answers[0]?.text).toBe("B");
    expect(withAnswer(conversation, "gone", (answer) => answer)).toBe(conversation);
  });
});

describe("reading a stream", () => {
  const empty: Progress = { text: "", reasoning: "", tools: [] };
  const delta = (value: object): string => JSON.stringify({ choices: [{ delta: value }] });

  test("text, reasoning and tool calls in fragments grow apart from each other", () => {
    const chunks = [
      delta({ role: "assistant", reasoning_content: "hm" }),
      delta({ reasoning: "m" }),
      delta({ content: "你" }),
      delta({ content: "好" }),
      delta({
        tool_calls: [
          { index: 0, id: "x", function: { name: "weather", arguments: '{"ci' } },
          { index: 1, function: { name: "time" } },
        ],
      }),
      delta({ tool_calls: [{ index: 0, function: { arguments: 'ty":1}' } }] }),
      JSON.stringify({ choices: [], usage: { prompt_tokens: 1 } }),
    ];
    expect(chunks.reduce(addChunk, empty)).toEqual({
      text: "你好",
      reasoning: "hmm",
      tools: [
        { name: "weather", arguments: '{"city":1}' },
        { name: "time", arguments: "" },
      ],
    });
  });

  test("an error event ends it with the gateway's message", () => {
    expect(() => addChunk(empty, JSON.stringify({ error: { message: "上游连接中断" } }))).toThrow(
      new ChatError("上游连接中断", 0),
    );
    expect(() => addChunk(empty, JSON.stringify({ error: { odd: 1 } }))).toThrow(ChatError);
  });

  test("odd chunks change nothing", () => {
    for (const data of ["", "null", "[]", "{", '{"choices":null}', delta({ content: 5, tool_calls: "x" })]) {
      expect(addChunk(empty, data)).toEqual(empty);
    }
  });
});

describe("what is kept in the browser", () => {
  test("a fresh browser begins with temperature 0 and no limit of tokens", () => {
    // spec: C-652, C-655
    expect(readSettings(1)).toEqual({ group: "", models: [], temperature: 0, max_tokens: 0, system: "" });
  });

  test("settings and conversations belong to one user each", () => {
    writeSettings(1, { ...DEFAULT_SETTINGS, temperature: 0.7 });
    writeConversations(1, [{ ...newConversation(), turns: [answered("one", "a")] }]);
    expect(readSettings(1).temperature).toBe(0.7);
    expect(readSettings(2)).toEqual(DEFAULT_SETTINGS);
    expect(readConversations(1)).toHaveLength(1);
    expect(readConversations(2)).toEqual([]);
  });

  test("what is broken or of another shape is forgotten, and what was under way is incomplete", () => {
    for (const text of ["{", "[1]", '[{"id":"x"}]', "{}"]) {
      localStorage.setItem("playground:1", text);
      expect(readConversations(1)).toEqual([]);
    }
    writeConversations(1, [{ ...newConversation(), turns: [newTurn("one", [], ["m"])] }]);
    expect(readConversations(1)[0]?.turns[0]?.answers[0]?.state).toBe("incomplete");
  });

  test("the newest thirty are kept, and pictures are dropped before text", () => {
    const many = Array.from({ length: 40 }, (_, index) => ({
      ...newConversation(),
      updated: index,
      turns: [newTurn(`t${index}`, [], ["m"])],
    }));
    writeConversations(1, many);
    expect(readConversations(1).map((item) => item.turns[0]?.text)).toEqual(
      Array.from({ length: 30 }, (_, index) => `t${39 - index}`),
    );
    writeConversations(1, [{ ...newConversation(), turns: [newTurn("seen", ["x".repeat(3_000_000)], ["m"])] }]);
    expect(readConversations(1)[0]?.turns[0]).toMatchObject({ text: "seen", images: [] });
  });

  test("the model is the last choice, else gpt-4o-mini, else the first usable one", () => {
    // spec: C-651
    expect(usableModels(["b"], ["a", "b", "gpt-4o-mini"])).toEqual(["b"]);
    // spec: C-650
    expect(usableModels(["gone"], ["a", "gpt-4o-mini"])).toEqual(["gpt-4o-mini"]);
    // spec: C-651
    expect(usableModels([], ["a", "b"])).toEqual(["a"]);
    expect(usableModels([], [])).toEqual([]);
    expect(usableModels(["a", "b", "c", "d"], ["a", "b", "c", "d"])).toEqual(["a", "b", "c"]);
  });
});

describe("the call as code", () => {
  const body: ChatBody = {
    model: "m'1",
    group: "vip",
    stream: true,
    max_tokens: 0,
    temperature: 0.3,
    messages: [{ role: "user", content: 'it\'s "so"\ntrue,' }],
  };

  test("the curl command carries exactly the request, in one shell word, without group and without a limit of 0", async () => {
    const code = snippetsOf(body, "http://weir.example")[0]?.code ?? "";
    const shell = Bun.spawn(["sh", "-c", `curl() { for last; do :; done; printf %s "$last"; }; ${code}`]);
    expect(JSON.parse(await new Response(shell.stdout).text())).toEqual({
      model: "m'1",
      stream: true,
      temperature: 0.3,
      messages: [{ role: "user", content: 'it\'s "so"\ntrue,' }],
    });
  });

  test("a limit is in every snippet, a picture's bytes in none", () => {
    const picture = `data:image/png;base64,${"A".repeat(400)}`;
    const seeing: ChatBody = {
      ...body,
      max_tokens: 9,
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: picture } }] }],
    };
    for (const { code } of snippetsOf(seeing, "http://weir.example")) {
      expect(code).toMatch(/max_tokens"?[:=] ?9/);
      expect(code).not.toContain("AAAA");
      expect(code).toContain("http://weir.example/v1");
    }
  });
});
