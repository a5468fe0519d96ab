/**
 * Command-line clients, each as its documentation points it at another address, in a home of its own and without asking
 * before a tool runs.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../../scripts/run-command";
import { type Client, type Door, NATURAL_MODELS, type Outcome, type Target } from "./client";
import { FATES, type Fate } from "./vendors/server";
import { binary, hasNpm, type NpmClient, VERSIONS } from "./install";

interface Invocation {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Command {
  readonly name: string;
  readonly package: NpmClient;
  readonly program: string;
  readonly door: Door;
  readonly models?: readonly [string, ...string[]];
  /** Default: all. */
  readonly fates?: readonly Fate[];
  readonly tooLong: RegExp;
  /** Writes its files into the home, and says how it is called. */
  readonly prepare: (target: Target) => Invocation;
}

/** Longer than any client goes on trying against a vendor. */
const LIMIT_MS = 90_000;

const write = (folder: string, name: string, content: unknown): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
};

/** opencode with one of its AI SDK providers. */
const opencode = (
  provider: string,
  npm: string,
  door: Door,
  path: string,
  model: string = NATURAL_MODELS[door],
): Command => ({
  name: `opencode, ${provider}`,
  package: "opencode-ai",
  program: "opencode",
  door,
  models: [model],
  // After an error it does the same with every provider, and where it tries again, it does so for minutes.
  fates:
    door === "openai-chat" ? ["answers", "error_in_stream", "too_long", "out_of_quota", "unknown_model"] : ["answers"],
  tooLong: /context|too long|maximum number of tokens/i,
  prepare: ({ url, key, model, home, folder, prompt }) => {
    write(join(home, ".config/opencode"), "opencode.json", {
      $schema: "https://opencode.ai/config.json",
      autoupdate: false,
      share: "disabled",
      model: `certified/${model}`,
      small_model: `certified/${model}`,
      permission: { "*": "allow" },
      provider: {
        certified: {
          npm,
          name: "Certified",
          options: { baseURL: `${url}${path}`, apiKey: key },
          models: {
            [model]: { name: model, tool_call: true, reasoning: true, limit: { context: 200000, output: 8000 } },
          },
        },
      },
    });
    return {
      args: ["run", "--dir", folder, "-m", `certified/${model}`, prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_LSP_DOWNLOAD: "1" },
    };
  },
});

const commands: readonly Command[] = [
  {
    // code.claude.com/docs/en/settings (environment), 2026-11.
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    program: "claude",
    door: "anthropic",
    models: [NATURAL_MODELS.anthropic, "claude-haiku-4-5-20251001"],
    tooLong: /prompt is too long/i,
    prepare: ({ url, key, model, folder, prompt }) => ({
      args: ["-p", prompt, "--model", model, "--output-format", "json", "--allowedTools", "Read", "--add-dir", folder],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: key,
        DISABLE_AUTOUPDATER: "1",
        DISABLE_TELEMETRY: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    }),
  },
  {
    // developers.openai.com/codex/config-reference (model_providers), 2026-11.
    name: "Codex",
    package: "@openai/codex",
    program: "codex",
    door: "openai-responses",
    tooLong: /context window/i,
    prepare: ({ url, key, model, home, folder, prompt }) => {
      write(
        join(home, ".codex"),
        "config.toml",
        `model = "${model}"
model_provider = "certified"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.certified]
name = "Certified"
base_url = "${url}/v1"
env_key = "CERTIFIED_KEY"
wire_api = "responses"
`,
      );
      return {
        args: ["exec", "--skip-git-repo-check", "-C", folder, prompt],
        env: { CERTIFIED_KEY: key, CODEX_HOME: join(home, ".codex") },
      };
    },
  },
  {
    // geminicli.com/docs/get-started/authentication and /docs/reference/configuration, 2026-11.
    name: "Gemini CLI",
    package: "@google/gemini-cli",
    program: "gemini",
    door: "gemini",
    models: [
      NATURAL_MODELS.gemini,
      "gemini-3.1-pro-preview",
      "gemini-3-flash-preview",
      "gemini-2.5-flash",
      "gemini-2.5-flash-lite",
      "gemini-2.5-pro",
    ],
    tooLong: /exceeds the maximum number of tokens/i,
    prepare: ({ url, key, model, home, prompt }) => {
      write(join(home, ".gemini"), "settings.json", {
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { disableAutoUpdate: true, disableUpdateNag: true },
        privacy: { usageStatisticsEnabled: false },
      });
      return {
        args: ["-m", model, "--yolo", "--skip-trust", "-p", prompt],
        env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url, GEMINI_TELEMETRY_ENABLED: "false" },
      };
    },
  },
  // It sends max_tokens, which OpenAI's reasoning models refuse: github.com/anomalyco/opencode/issues/37964, 2026-07.
  opencode("OpenAI-compatible", "@ai-sdk/openai-compatible", "openai-chat", "/v1", "gpt-4.1"),
  opencode("OpenAI Responses", "@ai-sdk/openai", "openai-responses", "/v1"),
  opencode("Anthropic", "@ai-sdk/anthropic", "anthropic", "/v1"),
  opencode("Google", "@ai-sdk/google", "gemini", "/v1beta"),
];

async function run(command: Command, target: Target): Promise<Outcome> {
  const { args, env } = command.prepare(target);
  // Nothing of the user's own settings, keys or proxies may reach the client.
  const bare = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const { code, output, timedOut } = await runCommand([binary(command.program), ...args], {
    timeoutMs: LIMIT_MS,
    cwd: target.folder,
    env: { ...bare, PATH: process.env.PATH, HOME: target.home, TMPDIR: target.home, CI: "1", NO_COLOR: "1", ...env },
  });
  return { ended: timedOut ? "too late" : code === 0 ? "answered" : "failed", says: output };
}

export const commandClients: readonly Client[] = commands.map((command) => ({
  name: command.name,
  version: VERSIONS.npm[command.package],
  kind: "cli",
  from: "npm",
  obeys: false,
  door: command.door,
  models: command.models ?? [NATURAL_MODELS[command.door]],
  fates: command.fates ?? FATES,
  tooLong: command.tooLong,
  missing: () => (hasNpm([command.package]) ? undefined : `${command.package} is not installed`),
  run: (target) => run(command, target),
}));
