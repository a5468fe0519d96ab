/**
 * The neutral prompt as ChatCompletions of Tencent Hunyuan: OpenAI's chat by other names, with less in it (types of
 * tencentcloud-sdk-nodejs, hunyuan v20230901; cloud.tencent.com/document/product/1729/105701; read November 2026).
 */
import type { ChatPrompt, Warn, WireObject } from "../../chat-events";
import { encodeRequest as encodeChat } from "../openai-chat/request-encode";
import { plainTextSchema } from "../shared/functions";
import { compact, object, objects, text } from "../shared/json";
import { alternate, warnUnsupported } from "../shared/turns";
import { pascalName } from "./case";

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

function contentOf(content: unknown, warn: Warn): WireObject {
  if (!Array.isArray(content)) return { Content: text(content) };
  const parts = objects(content);
  // Contents is for models with eyes alone; words go where every model reads them.
  if (parts.every((part) => part.type === "text"))
    return { Content: parts.map((part) => text(part.text)).join("\n\n") };
  const Contents = parts.flatMap((part): WireObject[] => {
    if (part.type === "text") return [{ Type: "text", Text: text(part.text) }];
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
  if (message.name !== undefined) warn("dropped_field", "messages.name");
  // Thoughts that come back are an error there.
  if (message.reasoning_content !== undefined) warn("dropped_reasoning", "tencent");
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
    if (tool.type === "server") {
      warn("dropped_tool", String(tool.value.type ?? tool.from));
      return [];
    }
    if (tool.type === "free_form") warn("changed_value", `custom tool ${tool.name}`);
    else if (tool.strict === true) warn("dropped_field", "tools.strict");
    const parameters =
      tool.type === "free_form" ? plainTextSchema : (tool.parameters ?? { type: "object", properties: {} });
    const { name: Name, description: Description } = tool;
    return [{ Type: "function", Function: compact({ Name, Description, Parameters: JSON.stringify(parameters) }) }];
  });
}

/** auto, none, or one tool: there is no word for "any of them". */
function choiceOf({ tool_choice }: ChatPrompt, tools: WireObject[], warn: Warn): WireObject {
  if (!tool_choice || tools.length === 0) return {};
  const { mode, name, allowed } = tool_choice;
  if (allowed) warn("dropped_field", "tool_choice.allowed");
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
  warnUnsupported(
    prompt,
    [
      "max_output",
      "parallel_tools",
      "format",
      "top_k",
      "frequency_penalty",
      "presence_penalty",
      "choices",
      "reasoning",
      "verbosity",
      "user",
      "metadata",
    ],
    warn,
  );
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
