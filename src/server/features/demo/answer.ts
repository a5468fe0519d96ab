/** The demo model's answer and its token counts. Pure; the HTTP around it is in upstream.ts. */
import * as z from "zod";
import { DEMO_MODEL } from "../../../shared/demo";

const part = z.union([z.string(), z.object({ type: z.string(), text: z.string().optional() }).loose()]);

/** The fields of a chat completion request that are read; everything else is accepted and ignored. */
export const demoRequest = z.object({
  model: z.string(),
  messages: z
    .array(z.object({ role: z.string(), content: z.union([z.string(), z.array(part), z.null()]).optional() }).loose())
    .min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).loose().nullish(),
  max_tokens: z.number().int().positive().nullish(),
  max_completion_tokens: z.number().int().positive().nullish(),
});
export type DemoRequest = z.output<typeof demoRequest>;

export interface DemoAnswer {
  /** One string per token. */
  tokens: string[];
  finish_reason: "stop" | "length";
  prompt_tokens: number;
}

/** Characters of the caller's text that are repeated. */
const REPEATED = 400;

/** One token per Chinese character, sign or four letters: simple enough to count by hand on a bill. */
export function demoTokens(text: string): string[] {
  return text.match(/\s*(?:\p{Script=Han}|[[\p{L}\p{N}]--\p{Script=Han}]{1,4}|[^\p{L}\p{N}\s])|\s+$/gv) ?? [];
}

function textOf(content: DemoRequest["messages"][number]["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((piece) => (typeof piece === "string" ? piece : (piece.text ?? ""))).join("\n");
}

/** Repeats the user's last message in its language, and says that this is the demo model. */
export function answerDemo(request: DemoRequest): DemoAnswer {
  const said = textOf(request.messages.findLast((message) => message.role === "user")?.content).trim();
  const characters = [...said];
  const repeated = characters.length > REPEATED ? `${characters.slice(0, REPEATED).join("")}…` : said;
  const text = /\p{Script=Han}/u.test(said)
    ? `这里是演示渠道，没有调用任何上游模型。你说的是：${repeated}`
    : `This is the demo channel; no upstream model was called. You said: ${repeated}`;
  const all = demoTokens(text);
  const limit = request.max_completion_tokens ?? request.max_tokens ?? all.length;
  const prompt_tokens = request.messages.reduce((sum, message) => sum + demoTokens(textOf(message.content)).length, 0);
  return { tokens: all.slice(0, limit), finish_reason: limit < all.length ? "length" : "stop", prompt_tokens };
}

interface Envelope {
  id: string;
  /** Epoch seconds. */
  created: number;
}

const usageOf = ({ tokens, prompt_tokens }: DemoAnswer) => ({
  prompt_tokens,
  completion_tokens: tokens.length,
  total_tokens: prompt_tokens + tokens.length,
});

/** The body of a plain answer. */
export function completionOf(answer: DemoAnswer, { id, created }: Envelope) {
  const message = { role: "assistant", content: answer.tokens.join("") };
  return {
    id,
    object: "chat.completion",
    created,
    model: DEMO_MODEL,
    choices: [{ index: 0, message, finish_reason: answer.finish_reason }],
    usage: usageOf(answer),
  };
}

/**
 * The frames of a streamed answer in order: role, one per token, finish, usage when it was requested, and the end mark.
 */
export function* framesOf(answer: DemoAnswer, { id, created }: Envelope, includeUsage: boolean): Generator<string> {
  const common = { id, object: "chat.completion.chunk", created, model: DEMO_MODEL };
  const frame = (value: object) => `data: ${JSON.stringify({ ...common, ...value })}\n\n`;
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  yield frame(choice({ role: "assistant", content: "" }));
  for (const token of answer.tokens) yield frame(choice({ content: token }));
  yield frame(choice({}, answer.finish_reason));
  if (includeUsage) yield frame({ choices: [], usage: usageOf(answer) });
  yield "data: [DONE]\n\n";
}
