/**
 * The neutral prompt as a call of an application (docs.dify.ai, API reference: chat-messages, completion-messages,
 * workflows/run; openapi_chat.json, openapi_workflow.json; read November 2026).
 */
import type { Block, ChatPrompt, Message, Source, Warn, WireObject } from "../../chat-events";
import { compact, isObject } from "../shared/json";
import { questionOf, transcriptOf } from "../shared/transcript";
import { takeExtra, warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/** The application behind a key is of one kind; a key does not show which, so the model's name begins with it. */
export type AppKind = "chat" | "completion" | "workflow";

export function appKind(model: string): AppKind {
  if (/^workflow\b/i.test(model)) return "workflow";
  return /^completion\b/i.test(model) ? "completion" : "chat";
}

/** The vendor's own members that a caller may put into the body; a conversation's name cannot be guessed (a UUID). */
const ownWords = new Set(["inputs", "conversation_id", "files", "auto_generate_name", "trace_id"]);

/** The end user where the caller names none: the vendor demands one. */
const UNNAMED_USER = "weir";

/** An entry of `files` whose bytes must be uploaded first (providers/dify.ts). */
export interface InlineFile {
  readonly type: string;
  readonly transfer_method: "inline";
  readonly media_type: string;
  readonly data: string;
  readonly name?: string;
}

const kindOf = (media_type: string | undefined, otherwise: string): string =>
  /^(image|audio|video)\//.exec(media_type ?? "")?.[1] ?? otherwise;

function fileOf(source: Source, otherwise: string, name: string | undefined, warn: Warn): WireObject | undefined {
  if (source.kind === "url") {
    if (name !== undefined) warn("dropped_field", "file.name");
    return { type: kindOf(source.media_type, otherwise), transfer_method: "remote_url", url: source.url };
  }
  if (source.kind !== "data") return undefined;
  const { media_type, data } = source;
  const file: InlineFile = {
    type: kindOf(media_type, otherwise),
    transfer_method: "inline",
    media_type,
    data,
    ...(name && { name }),
  };
  return { ...file };
}

/** Pictures, sounds and files of a turn. */
function filesOf(content: readonly Block[], warn: Warn): WireObject[] {
  return content.flatMap((block) => {
    if (block.type !== "image" && block.type !== "audio" && block.type !== "file") return [];
    const otherwise = block.type === "file" ? "document" : block.type;
    const file = fileOf(block.source, otherwise, block.type === "file" ? block.name : undefined, warn);
    if (!file) warn("dropped_block", `${block.type} by ${block.source.kind}`);
    return file ? [file] : [];
  });
}

const lastOfUser = (messages: readonly Message[]): readonly Block[] =>
  messages.findLast(({ role }) => role === "user")?.content ?? [];

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const own = takeExtra(prompt.extra, ownWords, "", warn);
  const kind = appKind(prompt.model);
  // Who continues a conversation has its history there.
  const continued = kind === "chat" && typeof own.conversation_id === "string" && own.conversation_id !== "";
  const query = continued ? questionOf(prompt.messages, warn) : transcriptOf(prompt.messages, warn);
  const inputs = isObject(own.inputs) ? own.inputs : {};
  const said = filesOf(
    continued ? lastOfUser(prompt.messages) : prompt.messages.flatMap(({ content }) => content),
    warn,
  );
  const files = [...(Array.isArray(own.files) ? own.files : []), ...said];
  return compact({
    ...own,
    inputs: kind === "chat" ? inputs : { query, ...inputs },
    query: kind === "chat" ? query : undefined,
    // In any case: agents do not answer otherwise, and a long silence is cut. providers/dify.ts gathers whole answers.
    response_mode: "streaming",
    user: prompt.user ?? UNNAMED_USER,
    files: files.length > 0 ? files : undefined,
    auto_generate_name: kind === "chat" ? (own.auto_generate_name ?? false) : undefined,
  });
}
