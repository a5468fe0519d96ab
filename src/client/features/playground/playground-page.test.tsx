/** The playground as a page: what a call carries, and the states that its answer goes through. */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { clearUser, storeUser } = await import("../../lib/session");
const { default: PlaygroundPage } = await import("./playground-page");

// Slow while other test files run.
setDefaultTimeout(30_000);

beforeEach(() => storeUser({ id: 7, username: "ann", display_name: "ann", role: 1, status: 1, group: "default" }));
afterEach(() => {
  clearUser();
  closePage();
});

const delta = (content: string): string => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

/** The page before a server whose stream this test writes by hand; what was sent is in `sent`. */
async function open(models: readonly string[] = ["a-model", "gpt-4o-mini"], refusal?: Response) {
  const sent: { headers: Headers; body: unknown }[] = [];
  const stream = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const answer = async (request: Request): Promise<Response> => {
    sent.push({ headers: request.headers, body: await request.json() });
    if (refusal) return refusal;
    const body = new ReadableStream<Uint8Array>({ start: stream.resolve });
    return new Response(body, { headers: { "content-type": "text/event-stream", "x-request-id": "r1" } });
  };
  const { user } = await openPage(<PlaygroundPage />, "/playground", {
    procedures: {
      "group.own": () => ({ default: { desc: "d", ratio: 1 } }),
      "group.models": () => models,
      "log.own": () => ({ items: [] }),
    },
    paths: { "/pg/chat/completions": answer },
  });
  const field = await screen.findByLabelText("消息");
  const chosen = () => screen.getByRole("combobox", { name: "模型" }).textContent ?? "";
  const settings = screen.queryByRole("button", { name: "设置" });
  if (settings) await user.click(settings);
  await waitFor(() => expect(chosen()).not.toContain("正在加载"));
  const model = chosen();
  if (settings) await user.keyboard("{Escape}");
  const say = async (text: string) => {
    await user.type(field, text);
    await user.click(screen.getByRole("button", { name: "发送" }));
  };
  const write = async (text: string) => (await stream.promise).enqueue(new TextEncoder().encode(text));
  const end = async () => (await stream.promise).close();
  const state = () => document.querySelector("article")?.getAttribute("data-state");
  return { user, sent, model, say, write, end, state };
}

test("a first message goes to gpt-4o-mini at temperature 0 without a limit, under the user's id; where that model is missing it goes to the first there is", async () => {
  const page = await open();
  // spec: C-650
  expect(page.model).toContain("gpt-4o-mini");
  await page.say("hi");
  await waitFor(() => expect(page.sent).toHaveLength(1));
  // spec: C-559, C-650, C-652, C-655
  expect(page.sent[0]?.body).toEqual({
    messages: [{ role: "user", content: "hi" }],
    stream: true,
    model: "gpt-4o-mini",
    group: "default",
    max_tokens: 0,
    temperature: 0,
  });
  // spec: C-560
  expect(page.sent[0]?.headers.get("new-api-user")).toBe("7");
  await page.end();
  closePage();
  // spec: C-651
  expect((await open(["only-this"])).model).toContain("only-this");
});

test("an answer waits, grows, and is complete with [DONE]", async () => {
  const { say, write, end, state } = await open();
  await say("hi");
  await screen.findByText("等待第一个字…");
  // spec: C-395
  expect(state()).toBe("loading");
  await write(delta("hel"));
  await screen.findByText("hel");
  // spec: C-396
  expect(state()).toBe("incomplete");
  await write(`${delta("lo")}data: [DONE]\n\n`);
  await end();
  await screen.findByText("hello");
  // spec: C-397
  await waitFor(() => expect(state()).toBe("complete"));
});

test("a refused call is a red answer with status and message", async () => {
  const refusal = Response.json({ error: { message: "too fast", code: "x" } }, { status: 429 });
  const { say, state } = await open(["gpt-4o-mini"], refusal);
  await say("hi");
  const alert = await screen.findByRole("alert");
  // spec: C-398
  expect([state(), alert.textContent, alert.className]).toEqual([
    "error",
    expect.stringContaining("429 · too fast"),
    expect.stringContaining("bg-red-bg"),
  ]);
});

test.each([
  [
    "an error event",
    `data: ${JSON.stringify({ error: { message: "the upstream broke off" } })}\n\n`,
    "the upstream broke off",
  ],
  ["an end without [DONE]", "", "回答中断：连接在结束前关闭"],
])("a stream that breaks off by %s marks the last answer, which keeps what came", async (_, last, words) => {
  const { say, write, end, state } = await open();
  await say("hi");
  await write(delta("half"));
  await screen.findByText("half");
  await write(last);
  await end();
  const alert = await screen.findByRole("alert");
  // spec: C-398, C-589
  expect([state(), alert.textContent]).toEqual(["error", expect.stringContaining(words)]);
  expect(document.querySelector("article")?.textContent).toContain("half");
});

test("the address says that the session expired: the page says it too", async () => {
  const { Toasts } = await import("../../components/toasts");
  await openPage(
    <>
      <PlaygroundPage />
      <Toasts />
    </>,
    "/playground?expired=true",
    { procedures: { "group.own": () => ({}), "group.models": () => [] } },
  );
  // spec: C-571
  expect(await screen.findByText("未登录或登录已过期，请重新登录！")).toBeDefined();
});
