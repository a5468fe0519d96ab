/**
 * The neutral prompt as ChatCompletions of Tencent Hunyuan: OpenAI's chat by other names, with less in it (types of
 * tencentcloud-sdk-nodejs, hunyuan v20230901; cloud.tencent.com/document/product/1729/105701; read November 2026).
 */
import type { ChatPrompt, Warn, WireObject } from "../../chat-events";
import { encodeRequest as encodeChat } from "../openai-chat/request-encode";
import { describeFreeForm, plainTextSchema } from "../shared/functions";
import { compact, object, objects, text } from "../shared/json";
import { alternate } from "../shared/turns";
import { warnUnsupported } from "../shared/unsupported";
import { pascalName } from "./case";
import { requestSupport } from "./support";

/** Members of a call that only Tencent knows: an OpenAI caller may send them by their snake_case names. */
const OWN = new Set([
  "stream_moderation",
  "enable_enhancement",
  "search_info",
  "citation",
  "enable_speed_search",
  "enable_multimedia",
  "enable_deep_search",
  "force_search_enhancement",
  "enable_recommended_questions",
  "enable_deep_read",
  "topic_choice",
]);
/** Members that have a place of their own below, or mean nothing here. */
const READ = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "temperature",
  "top_p",
  "seed",
  "stop",
  "stream",
  "stream_options",
]);

const isWords = ({ type }: WireObject): boolean => type === "text" || type === "refusal";
const wordsOf = (part: WireObject): string => text(part.text ?? part.refusal);

function contentOf(content: unknown, warn: Warn): WireObject {
  if (!Array.isArray(content)) return { Content: text(content) };
  const parts = objects(content);
  // Contents is for models with vision alone; words go where every model reads them.
  if (parts.every(isWords)) return { Content: parts.map(wordsOf).join("\n\n") };
  const Contents = parts.flatMap((part): WireObject[] => {
    if (isWords(part)) return [{ Type: "text", Text: wordsOf(part) }];
    if (part.type === "image_url") return [{ Type: "image_url", ImageUrl: { Url: text(object(part.image_url).url) } }];
    warn("dropped_block", text(part.type));
    return [];
  });
  return { Contents };
}

function messageOf(message: WireObject, warn: Warn): WireObject {
  const calls = objects(message.tool_calls).map((call, Index) => {
    const { name, arguments: json, input } = object(call.function ?? call.custom);
    // A plain text tool has one argument here, as it is declared below.
    const Arguments = json ?? JSON.stringify({ input });
    return { Id: call.id, Type: "function", Function: { Name: name, Arguments }, Index };
  });
  // Thoughts that come back are an error there.
  return compact({
    Role: message.role,
    ...contentOf(message.content, warn),
    ToolCalls: calls.length > 0 ? calls : undefined,
    ToolCallId: message.tool_call_id,
  });
}

/** Plain text tools take one text argument; OpenAI's declaration becomes Tencent's, whose schema is JSON text. */
function toolsOf(prompt: ChatPrompt, warn: Warn): WireObject[] {
  return (prompt.tools ?? []).flatMap((tool): WireObject[] => {
    if (tool.type === "server") return [];
    const free = tool.type === "free_form";
    if (free) warn("changed_value", `custom tool ${tool.name}`);
    const parameters = free ? plainTextSchema : (tool.parameters ?? { type: "object", properties: {} });
    const { name: Name } = tool;
    const Description = free ? describeFreeForm(tool) : tool.description;
    return [{ Type: "function", Function: compact({ Name, Description, Parameters: JSON.stringify(parameters) }) }];
  });
}

/** auto, none, or one tool: there is no word for "any of them". */
function choiceOf({ tool_choice }: ChatPrompt, tools: WireObject[], warn: Warn): WireObject {
  if (!tool_choice || tools.length === 0) return {};
  const { mode, name } = tool_choice;
  if (mode === "auto" || mode === "none") return { ToolChoice: mode };
  const wanted =
    mode === "named"
      ? tools.find((tool) => object(tool.Function).Name === name)
      : tools.length === 1
        ? tools[0]
        : undefined;
  if (wanted) return { ToolChoice: "custom", CustomTool: wanted };
  warn("changed_value", "tool_choice");
  return { ToolChoice: "auto" };
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const { model, stop, cache, extra, stream, temperature, top_p, seed } = prompt;
  const messages = alternate(prompt.messages, warn);
  const chat = encodeChat(compact({ model, messages, stop, cache, extra, stream, temperature, top_p, seed }), warn);
  const own: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(chat)) {
    if (OWN.has(name)) own[pascalName(name)] = value;
    else if (!READ.has(name)) warn("dropped_field", name);
  }
  const tools = toolsOf(prompt, warn);
  return compact({
    Model: model,
    Messages: objects(chat.messages).map((message) => messageOf(message, warn)),
    Tools: tools.length > 0 ? tools : undefined,
    ...choiceOf(prompt, tools, warn),
    Temperature: temperature,
    TopP: top_p,
    Seed: seed,
    Stop: stop,
    Stream: stream ?? false,
    ...own,
  });
}
