/**
 * How each client is configured for the gateway: what to paste, and a link that opens the client where it has one.
 *
 * Link schemes: Cherry Studio (`cherrystudio://providers/api-keys`, base64 JSON, read by its own protocol handler),
 * CC Switch (`ccswitch://v1/import`, which fills in Claude Code and Codex), and the operator's own chat links.
 */
import { chatLinkKind, fillChatLink } from "../../../shared/chat-links";

export interface Connection {
  /** Origin without a trailing slash. */
  root: string;
  key: string;
  model: string;
  /** The gateway's name, for clients that show one. */
  name: string;
}

/** The endpoint of /v1 that a client calls. */
export type Endpoint = "/v1/chat/completions" | "/v1/messages" | "/v1/responses";

/**
 * Endpoints that the relay serves in this version (server: relay/entry/routes.ts). The tabs of clients that need
 * another one say that it is not available yet.
 */
export const servedEndpoints: readonly Endpoint[] = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

export interface Client {
  id: string;
  /** A proper name, the same in every language. */
  name: string;
  endpoint: Endpoint;
  code: (connection: Connection) => string;
  link?: { app: string; href: (connection: Connection) => string };
}

const base = ({ root }: Connection): string => `${root}/v1`;
/** A string literal of Python, TypeScript and TOML alike. */
const quote = (text: string): string => JSON.stringify(text);
/** One word for a POSIX shell. */
const shellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export const clients: readonly Client[] = [
  {
    id: "curl",
    name: "curl",
    endpoint: "/v1/chat/completions",
    code: (c) => {
      const body = JSON.stringify({ model: c.model, messages: [{ role: "user", content: "Hello" }] });
      return `curl ${base(c)}/chat/completions \\
  -H "Authorization: Bearer ${c.key}" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(body)}`;
    },
  },
  {
    id: "python",
    name: "Python",
    endpoint: "/v1/chat/completions",
    code: (c) => `# pip install openai
from openai import OpenAI

client = OpenAI(base_url=${quote(base(c))}, api_key=${quote(c.key)})
answer = client.chat.completions.create(
    model=${quote(c.model)},
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    id: "typescript",
    name: "TypeScript",
    endpoint: "/v1/chat/completions",
    code: (c) => `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${quote(base(c))}, apiKey: ${quote(c.key)} });
const answer = await client.chat.completions.create({
  model: ${quote(c.model)},
  messages: [{ role: "user", content: "Hello" }],
});
console.log(answer.choices[0]?.message.content);`,
  },
  {
    id: "claude-code",
    name: "Claude Code",
    endpoint: "/v1/messages",
    // The root: Claude Code adds /v1/messages itself.
    code: (c) => `export ANTHROPIC_BASE_URL=${shellWord(c.root)}
export ANTHROPIC_AUTH_TOKEN=${shellWord(c.key)}
export ANTHROPIC_MODEL=${shellWord(c.model)}
claude`,
    link: { app: "CC Switch", href: (c) => ccSwitch("claude", c.root, c) },
  },
  {
    id: "codex",
    name: "Codex",
    endpoint: "/v1/responses",
    code: (c) => `# ~/.codex/config.toml
model = ${quote(c.model)}
model_provider = "weir"

[model_providers.weir]
name = ${quote(c.name)}
base_url = ${quote(base(c))}
env_key = "WEIR_KEY"
wire_api = "responses"

# export WEIR_KEY=${shellWord(c.key)}`,
    link: { app: "CC Switch", href: (c) => ccSwitch("codex", base(c), c) },
  },
  {
    id: "cherry-studio",
    name: "Cherry Studio",
    endpoint: "/v1/chat/completions",
    code: (c) => `API Host   ${c.root}
API Key    ${c.key}
Model      ${c.model}`,
    link: { app: "Cherry Studio", href: cherryStudio },
  },
  {
    id: "lobechat",
    name: "LobeChat / NextChat",
    endpoint: "/v1/chat/completions",
    code: (c) => `# LobeChat
OPENAI_API_KEY=${c.key}
OPENAI_PROXY_URL=${base(c)}
OPENAI_MODEL_LIST=+${c.model}

# NextChat
OPENAI_API_KEY=${c.key}
BASE_URL=${c.root}
CUSTOM_MODELS=+${c.model}`,
  },
  {
    id: "langchain",
    name: "LangChain",
    endpoint: "/v1/chat/completions",
    code: (c) => `# pip install langchain-openai
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model=${quote(c.model)}, base_url=${quote(base(c))}, api_key=${quote(c.key)})
print(model.invoke("Hello").content)`,
  },
  {
    id: "env",
    name: ".env",
    endpoint: "/v1/chat/completions",
    code: (c) => `OPENAI_BASE_URL=${base(c)}
OPENAI_API_KEY=${c.key}
OPENAI_MODEL=${c.model}`,
  },
];

function ccSwitch(app: "claude" | "codex", endpoint: string, { root, key, model, name }: Connection): string {
  const query = new URLSearchParams({ resource: "provider", app, name, homepage: root, endpoint, apiKey: key, model });
  // Spaces as %20: the app reads "+" literally.
  return `ccswitch://v1/import?${query.toString().replaceAll("+", "%20")}`;
}

/** Plain base64: the app's handler treats "+" and "/" itself and would not see them percent-encoded. */
function cherryStudio({ root, key, name }: Connection): string {
  const config = JSON.stringify({ id: "weir", baseUrl: root, apiKey: key, name, type: "openai" });
  const bytes = new TextEncoder().encode(config);
  return `cherrystudio://providers/api-keys?v=1&data=${btoa(String.fromCharCode(...bytes))}`;
}

/**
 * The operator's chat links (option Chats: one `{ name: address }` each) with the key and the gateway's address filled
 * in. Links that are not http(s) or that ask for anything else are left out.
 */
export function chatLinks(
  chats: readonly Record<string, string>[],
  { root, key }: Connection,
): { name: string; href: string }[] {
  return chats.flatMap((entry) =>
    Object.entries(entry).flatMap(([name, template]) => {
      const href = fillChatLink(template, { key, address: root });
      return chatLinkKind(href) === "page" && template.includes("{key}") ? [{ name, href }] : [];
    }),
  );
}
