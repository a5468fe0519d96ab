/**
 * What the strict vendors' model says: it reads three notes, the first two in one turn, and then repeats what they say.
 * Which tool reads a file, and how, differs from client to client.
 */
import type { Json, ToolCall } from "../../kit/fake-upstream/answer";
import type { Conversation } from "./vendor";

/** The notes in a client's working folder, and a word that stands in each alone. */
export const NOTES = { "a.txt": "amber-71", "b.txt": "birch-42", "c.txt": "cedar-93" } as const;
const WORDS: readonly string[] = Object.values(NOTES);
/** Ends the model's last text. */
export const DONE = "All three notes are read";

export const promptFor = (folder: string): string =>
  `Read the notes a.txt, b.txt and c.txt in the folder <${folder}> and tell me what they say.`;

/** Arguments of the tools that read a file. */
const READERS: Readonly<Record<string, (path: string) => Json>> = {
  // Claude Code
  Read: (file_path) => ({ file_path }),
  // Gemini CLI
  read_file: (file_path) => ({ file_path }),
  // opencode
  read: (filePath) => ({ filePath }),
  // Codex
  exec_command: (path) => ({ cmd: `cat ${path}` }),
  shell_command: (path) => ({ command: `cat ${path}` }),
  shell: (path) => ({ command: ["cat", path] }),
  // the SDKs
  read_note: (path) => ({ path }),
};

export interface Said {
  text: string[];
  tools: ToolCall[];
}

/** The words of the notes that stand in the tool results. */
export const wordsIn = (results: readonly string[]): string[] =>
  WORDS.filter((word) => results.some((result) => result.includes(word)));

/** The next answer. A request without a tool that reads files is a side call of its client (a title, a summary). */
export function nextAnswer(conversation: Conversation, request: string, id: string): Said {
  const reader = conversation.tools.find((name) => Object.hasOwn(READERS, name));
  const folder = /in the folder <([^>]+)>/.exec(request.replaceAll("\\u003c", "<").replaceAll("\\u003e", ">"))?.[1];
  const argumentsOf = reader === undefined ? undefined : READERS[reader];
  if (reader === undefined || argumentsOf === undefined || folder === undefined)
    return { text: ["Notes", " of a folder"], tools: [] };
  const call = (name: string): ToolCall => {
    const whole = JSON.stringify(argumentsOf(`${folder}/${name}`));
    const half = Math.floor(whole.length / 2);
    return { id: `${id}${name[0]}`, name: reader, fragments: [whole.slice(0, half), whole.slice(half)] };
  };
  if (conversation.calls === 0) return { text: ["I read ", "two notes."], tools: [call("a.txt"), call("b.txt")] };
  if (conversation.calls === 2) return { text: ["And ", "the third."], tools: [call("c.txt")] };
  return { text: [`${DONE}: `, ...wordsIn(conversation.results).map((word) => `${word} `), "."], tools: [] };
}
