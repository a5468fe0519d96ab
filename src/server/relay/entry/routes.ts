/** The paths of the relay: method and path -> dialect and operation. No other module knows a /v1 path. */
import type { SideHandler } from "../admission/side-call";
import { anthropicDialect } from "../../protocol/dialects/anthropic/dialect";
import { callerDialect, type CallerDialect } from "../../protocol/dialects/dialect";
import { geminiDialect } from "../../protocol/dialects/gemini/dialect";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { responsesDialect } from "../../protocol/dialects/openai-responses/dialect";
import { chat, completions } from "../operations/chat";
import { compact } from "../operations/compact";
import { anthropicCounter, counting, geminiCounter, responsesCounter } from "../endpoints/count-tokens";
import { generateContent, messages, responses } from "../operations/dialect-chat";
import { embedContent } from "../operations/embed-content";
import { embeddings, engineEmbeddings } from "../operations/embeddings";
import { imageEdits, imageGenerations, imageVariations } from "../operations/images";
import { moderations } from "../operations/moderations";
import type { Operation } from "../operations/operation";
import { rerank } from "../operations/rerank";
import { speech } from "../operations/speech";
import { transcriptions, translations } from "../operations/transcription";
import { isUnserved, unservedRoutes } from "../endpoints/not-implemented";
import { createFile, fileContent, listFiles, removeFile, retrieveFile } from "../endpoints/stored/files";
import { cancel, listInput, refuseUpgrade, remove, retrieve } from "../endpoints/stored/responses";
import { routeFinder, type OpenAnswer } from "../tasks/route";
import { taskRoutes } from "../tasks/routes";

export type Route =
  | { dialect: CallerDialect; operation: Operation }
  | {
      dialect: CallerDialect;
      operation: "models" | "subscription" | "usage" | "credit_grants" | "unserved" | "realtime";
    }
  | { dialect: CallerDialect; operation: "model"; model: string }
  /** A call that is no model call; `name` is for the API documents. */
  | { dialect: CallerDialect; operation: "side"; name: string; answer: SideHandler; billed?: boolean }
  /** A link that is its own permission: no key is required. */
  | { dialect: CallerDialect; operation: "open"; name: string; answer: OpenAnswer };

const anthropic = callerDialect(anthropicDialect, "ping");
const openaiResponses = callerDialect(responsesDialect);
const gemini = callerDialect(geminiDialect);

const sideRoute = (dialect: CallerDialect, name: string, answer: SideHandler): Route => ({
  dialect,
  operation: "side",
  name,
  answer,
});

/** Paths without an id. */
const relayRoutes: Readonly<Record<string, Route>> = {
  "POST /v1/chat/completions": { dialect: openaiChat, operation: chat },
  "POST /pg/chat/completions": { dialect: openaiChat, operation: chat },
  "POST /v1/messages": { dialect: anthropic, operation: messages },
  "POST /v1/messages/count_tokens": sideRoute(anthropic, "count_tokens", counting(anthropicCounter)),
  "POST /v1/responses": { dialect: openaiResponses, operation: responses },
  "POST /v1/responses/compact": { dialect: openaiResponses, operation: compact },
  "POST /v1/responses/input_tokens": sideRoute(openaiResponses, "count_tokens", counting(responsesCounter)),
  "GET /v1/responses": sideRoute(openaiResponses, "426 upgrade_refused", refuseUpgrade),
  "POST /v1/files": sideRoute(openaiChat, "files", createFile),
  "GET /v1/files": sideRoute(openaiChat, "files", listFiles),
  "POST /v1/completions": { dialect: openaiChat, operation: completions },
  "POST /v1/embeddings": { dialect: openaiChat, operation: embeddings },
  "POST /v1/images/generations": { dialect: openaiChat, operation: imageGenerations },
  "POST /v1/images/edits": { dialect: openaiChat, operation: imageEdits },
  "POST /v1/images/variations": { dialect: openaiChat, operation: imageVariations },
  "POST /v1/audio/speech": { dialect: openaiChat, operation: speech },
  "POST /v1/audio/transcriptions": { dialect: openaiChat, operation: transcriptions },
  "POST /v1/audio/translations": { dialect: openaiChat, operation: translations },
  "POST /v1/moderations": { dialect: openaiChat, operation: moderations },
  "POST /v1/rerank": { dialect: openaiChat, operation: rerank },
  "GET /v1/realtime": { dialect: openaiChat, operation: "realtime" },
  "GET /v1/models": { dialect: openaiChat, operation: "models" },
  "GET /v1beta/models": { dialect: openaiChat, operation: "models" },
  "GET /dashboard/billing/subscription": { dialect: openaiChat, operation: "subscription" },
  "GET /dashboard/billing/usage": { dialect: openaiChat, operation: "usage" },
  "GET /v1/dashboard/billing/subscription": { dialect: openaiChat, operation: "subscription" },
  "GET /v1/dashboard/billing/usage": { dialect: openaiChat, operation: "usage" },
  "GET /dashboard/billing/credit_grants": { dialect: openaiChat, operation: "credit_grants" },
  "GET /v1/dashboard/billing/credit_grants": { dialect: openaiChat, operation: "credit_grants" },
};

/** Paths that contain the id of a stored object or job: the parts before and after the id. */
const named: readonly [
  method: string,
  before: string,
  after: string,
  dialect: CallerDialect,
  name: string,
  answer: (id: string) => SideHandler,
][] = [
  ["GET", "/v1/responses/", "", openaiResponses, "responses", retrieve],
  ["DELETE", "/v1/responses/", "", openaiResponses, "responses", remove],
  ["GET", "/v1/responses/", "/input_items", openaiResponses, "responses", listInput],
  ["POST", "/v1/responses/", "/cancel", openaiResponses, "responses", cancel],
  ["GET", "/v1/files/", "", openaiChat, "files", retrieveFile],
  ["DELETE", "/v1/files/", "", openaiChat, "files", removeFile],
  ["GET", "/v1/files/", "/content", openaiChat, "files", fileContent],
];

const findTaskRoute = routeFinder(taskRoutes);

function taskRoute(method: string, path: string): Route | undefined {
  const { route, params } = findTaskRoute(method, path) ?? {};
  if (!route || !params) return undefined;
  const { dialect, name } = route;
  return route.open
    ? { dialect, operation: "open", name, answer: route.open(params) }
    : { dialect, operation: "side", name, answer: route.answer(params), billed: route.submits === true };
}

function findNamed(method: string, path: string): Route | undefined {
  for (const [itsMethod, before, after, dialect, name, answer] of named) {
    if (method !== itsMethod || !path.startsWith(before) || !path.endsWith(after)) continue;
    const id = path.slice(before.length, path.length - after.length);
    if (id !== "" && !id.includes("/")) return sideRoute(dialect, name, answer(decode(id)));
  }
  return undefined;
}

const MODEL_PREFIX = /^\/v1(?:beta)?\/models\/(.+)$/;
const GENERATE =
  /^\/v1(?:beta)?\/models\/(.+):(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/;
const ENGINE = /^\/v1\/engines\/(.+)\/embeddings$/;

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** The path of a URL, without query and without a trailing slash. */
export function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "/";
  const query = url.indexOf("?", start);
  const end = query < 0 ? url.length : query;
  return url.slice(start, end > start + 1 && url[end - 1] === "/" ? end - 1 : end);
}

/**
 * Other addresses of the same calls: Google's doors for OpenAI's clients (ai.google.dev/gemini-api/docs/openai) and its
 * v1alpha (http_options of @google/genai), Azure's for OpenAI's (learn.microsoft.com/azure/ai-foundry/openai, REST
 * reference, v1 and dated API; all read November 2026).
 */
const ALIASES: readonly (readonly [from: RegExp, to: string])[] = [
  [/^\/v1(?:beta|alpha)\/openai(?=\/)/, "/v1"],
  [/^\/openai\/v1(?=\/)/, "/v1"],
  [/^\/openai(?=\/(?!deployments\/))/, "/v1"],
  [/^\/v1alpha(?=\/)/, "/v1beta"],
];

/** The path of a call by its ordinary address. */
function ordinaryPath(path: string): string {
  for (const [from, to] of ALIASES) if (from.test(path)) return path.replace(from, to);
  return path;
}

/** Azure's dated API: the path names the model's deployment. */
const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)(\/.+)$/;

/** A call of a deployment is one of the model of that name, whatever its body says. */
function ofDeployment(operation: Operation, model: string): Operation {
  const { direct } = operation;
  const readForm = direct?.readForm;
  return {
    ...operation,
    read: (body) => ({ ...operation.read({ ...body, model }), model_added: true }),
    ...(direct && {
      direct: {
        ...direct,
        ...(readForm && { readForm: async (form) => ({ ...(await readForm(form)), model, model_added: true }) }),
      },
    }),
  };
}

/** undefined: no such route. */
export function findRoute(method: string, asked: string): Route | undefined {
  // Nearly every call, without the patterns below.
  const ordinary = relayRoutes[`${method} ${asked}`];
  if (ordinary) return ordinary;
  const [, deployment = "", rest = ""] = DEPLOYMENT.exec(asked) ?? [];
  if (deployment !== "") {
    const route = relayRoutes[`${method} /v1${rest}`];
    return route && typeof route.operation === "object"
      ? { dialect: route.dialect, operation: ofDeployment(route.operation, decode(deployment)) }
      : undefined;
  }
  const path = ordinaryPath(asked);
  const known = relayRoutes[`${method} ${path}`] ?? findNamed(method, path) ?? taskRoute(method, path);
  if (known) return known;
  const model = method === "GET" ? MODEL_PREFIX.exec(path)?.[1] : undefined;
  if (model !== undefined) return { dialect: openaiChat, operation: "model", model: decode(model) };
  const engine = method === "POST" ? ENGINE.exec(path)?.[1] : undefined;
  if (engine !== undefined) return { dialect: openaiChat, operation: engineEmbeddings(decode(engine)) };
  const generate = method === "POST" ? GENERATE.exec(path) : null;
  const generated = decode(generate?.[1] ?? "");
  if (generate?.[2] === "countTokens") return sideRoute(gemini, "count_tokens", counting(geminiCounter, generated));
  if (generate?.[2] === "embedContent" || generate?.[2] === "batchEmbedContents") {
    return { dialect: gemini, operation: embedContent(generated, generate[2] === "batchEmbedContents") };
  }
  if (generate) return { dialect: gemini, operation: generateContent(generated, generate[2] !== "generateContent") };
  return isUnserved(method, path) ? { dialect: openaiChat, operation: "unserved" } : undefined;
}

/** Whether a POST to the path submits a job. */
export const submitsJob = (path: string): boolean => findTaskRoute("POST", ordinaryPath(path))?.route.submits === true;

/** Routes whose answers have the form of the client that asks. */
const SHARED: ReadonlySet<Route["operation"]> = new Set(["models", "model", "unserved"]);

/**
 * The dialect of a caller's errors: its route's, or, where there is none or several clients share it, that of the
 * client. Anthropic's SDKs send anthropic-version and x-api-key, Google's x-goog-api-key.
 */
export function errorDialect(route: Route | undefined, path: string, headers: Headers): CallerDialect {
  if (route && !SHARED.has(route.operation)) return route.dialect;
  const plain = ordinaryPath(path);
  if (plain.startsWith("/v1beta/")) return gemini;
  if (/^\/v1\/(?:messages|complete)(?:\/|$)/.test(plain)) return anthropic;
  if (headers.has("anthropic-version") || headers.has("x-api-key")) return anthropic;
  return headers.has("x-goog-api-key") ? gemini : openaiChat;
}

/** The media types that an operation's body may have. */
function bodiesOf({ direct }: Operation): string[] {
  const json = !direct || direct.json ? ["application/json"] : [];
  return direct?.readForm ? [...json, "multipart/form-data"] : json;
}

/** Every route for the API documents: method, path with {params}, the operation's key, media types of the body. */
export const listedRoutes: readonly { method: string; path: string; operation: string; bodies?: readonly string[] }[] =
  [
    ...Object.entries(relayRoutes).map(([line, route]) => {
      const [method = "", path = ""] = line.split(" ");
      const operation = route.operation === "side" || route.operation === "open" ? route.name : route.operation;
      return typeof operation === "string"
        ? { method, path, operation }
        : { method, path, operation: operation.key, bodies: bodiesOf(operation) };
    }),
    ...named.map(([method, before, after, , operation]) => ({ method, path: `${before}{id}${after}`, operation })),
    ...taskRoutes.map(({ method, path, name }) => ({ method, path, operation: name })),
    { method: "GET", path: "/v1/models/{model}", operation: "model" },
    { method: "GET", path: "/v1beta/models/{model}", operation: "model" },
    { method: "POST", path: "/v1/engines/{model}/embeddings", operation: "embeddings", bodies: ["application/json"] },
    ...["generateContent", "streamGenerateContent"].map((call) => ({
      method: "POST",
      path: `/v1beta/models/{model}:${call}`,
      operation: "chat",
      bodies: ["application/json"],
    })),
    ...["embedContent", "batchEmbedContents"].map((call) => ({
      method: "POST",
      path: `/v1beta/models/{model}:${call}`,
      operation: "embeddings",
      bodies: ["application/json"],
    })),
    { method: "POST", path: "/v1beta/models/{model}:countTokens", operation: "count_tokens" },
    ...unservedRoutes.map((line) => {
      const [method = "", path = ""] = line.replace("*", "{path}").split(" ");
      return { method, path, operation: "501 api_not_implemented" };
    }),
  ];
