/** The playground's next call as code: the same request to /v1 with a token. */
import type { ChatBody } from "./chat-call";

export interface Snippet {
  id: string;
  /** A proper name, the same in every language. */
  name: string;
  code: string;
}

const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** A picture would bury the code. */
const shorten = (text: string): string => text.replace(/(data:[\w/+.-]+;base64,)[A-Za-z0-9+/=]{40,}/g, "$1…");

/** What of the body /v1 takes: no group (a token has its own) and no max_tokens of 0. */
function publicBody({ group: _group, max_tokens, ...body }: ChatBody): Record<string, unknown> {
  return { ...body, ...(max_tokens > 0 && { max_tokens }) };
}

/** JSON is Python but for three words. */
function python(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 4)
    .split("\n")
    .map((line) =>
      line.replace(
        /^(\s*(?:"(?:[^"\\]|\\.)*": )?)(true|false|null)(,?)$/,
        (_all, head: string, word: string, tail: string) =>
          head + { true: "True", false: "False", null: "None" }[word] + tail,
      ),
    )
    .join(`\n${indent}`);
}

/** The call in curl, Python and TypeScript, against `root` (an origin without a slash at its end). */
export function snippetsOf(body: ChatBody, root: string): Snippet[] {
  const sent = publicBody(body);
  const { stream: _stream, ...plain } = sent;
  const text = shorten(JSON.stringify(sent, null, 2));
  const lines = Object.entries(plain).map(([name, value]) => `    ${name}=${python(value, "    ")},`);
  return [
    {
      id: "curl",
      name: "curl",
      code: `curl ${shellWord(`${root}/v1/chat/completions`)} \\
  -H "Authorization: Bearer $WEIR_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(text)}`,
    },
    {
      id: "python",
      name: "Python",
      code: shorten(`# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${root}/v1`)}, api_key=os.environ["WEIR_KEY"])
stream = client.chat.completions.create(
${lines.join("\n")}
    stream=True,
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="")`),
    },
    {
      id: "typescript",
      name: "TypeScript",
      code: `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(`${root}/v1`)}, apiKey: process.env.WEIR_KEY });
const stream = await client.chat.completions.create(${text});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta?.content ?? "");
}`,
    },
  ];
}
