/** OpenAPI 3.1 of /api and /v1, from the definitions that serve them: procedures and the relay's route table. */
import * as z from "zod";
import { API_GENERATIONS } from "../../shared/api-generation";
import { listedRoutes } from "../relay/entry/routes";
import { VERSION } from "../version";
import type { RestRoute } from "./rest";

type Json = Record<string, unknown>;

/** The JSON schema of an input as a caller writes it; transforms and refinements are not in it. */
function inputSchema(schema: RestRoute["input"]): Json {
  if (!schema) return { type: "object" };
  return z.toJSONSchema(schema as z.ZodType, { io: "input", unrepresentable: "any" }) as Json;
}

const envelope = {
  type: "object",
  required: ["success", "message"],
  properties: { success: { type: "boolean" }, message: { type: "string" }, data: {} },
};

/** How a request chooses the shape of a list. */
const SHAPE_PARAMETERS = [
  {
    name: "shape",
    in: "query",
    schema: { enum: ["array", "page"] },
    description: "Of the list: an array with p from 0, or a page with p from 1",
  },
  {
    name: "Weir-Api-Generation",
    in: "header",
    schema: { enum: API_GENERATIONS },
    description: "The same by generation; else the option ApiGeneration decides",
  },
];

/** Of what books or creates something. */
const ONCE_PARAMETER = {
  name: "Idempotency-Key",
  in: "header",
  schema: { type: "string", maxLength: 200 },
  description: "A request that comes again with its key within a day gets the first answer and books nothing more",
};

const tagOf = (path: string): string => path.split("/")[2] ?? "api";

function apiOperation(route: RestRoute): Json {
  const schema = inputSchema(route.input);
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  const required = new Set((schema.required as string[] | undefined) ?? []);
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] ?? "");
  const rest = Object.entries(properties).filter(([name]) => !inPath.includes(name));
  const withBody = route.method !== "GET" && route.method !== "DELETE";
  return {
    operationId: `${route.method.toLowerCase()}_${route.path.replace(/[^a-z0-9]+/gi, "_").replace(/_+$/, "")}`,
    summary: route.meta.summary ?? route.procedure,
    tags: [tagOf(route.path)],
    parameters: [
      ...inPath.map((name) => ({ name, in: "path", required: true, schema: properties[name] ?? { type: "string" } })),
      ...(withBody
        ? []
        : rest.map(([name, value]) => ({ name, in: "query", required: required.has(name), schema: value }))),
      ...(route.meta.answer === "list" ? SHAPE_PARAMETERS : []),
      ...(route.meta.once ? [ONCE_PARAMETER] : []),
    ],
    ...(withBody && rest.length > 0
      ? {
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  properties: Object.fromEntries(rest),
                  required: [...required].filter((n) => !inPath.includes(n)),
                },
              },
            },
          },
        }
      : {}),
    responses: {
      200: {
        description: "The envelope; business failures are 200 with success false",
        content: { "application/json": { schema: envelope } },
      },
    },
    security: [{ session: [], user: [] }, { access_token: [] }],
  };
}

/** A callback of a third party in that party's own format: what the document needs of it. */
export interface CallbackSummary {
  method: string;
  path: string;
  summary: string;
}

const callbackOperation = ({ summary }: CallbackSummary): Json => ({
  summary,
  tags: ["callbacks"],
  responses: { 200: { description: "Taken; in the words that the caller understands, no envelope" } },
  // The signature alone authenticates the body.
  security: [],
});

/** The document served at /api/openapi.json and shown at /docs. */
export function openApi(routes: readonly RestRoute[], callbacks: readonly CallbackSummary[] = []): Json {
  const paths: Record<string, Json> = {};
  for (const route of callbacks) (paths[route.path] ??= {})[route.method.toLowerCase()] = callbackOperation(route);
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = apiOperation(route);
  }
  for (const route of listedRoutes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = {
      summary: route.operation,
      tags: ["relay"],
      parameters: [...route.path.matchAll(/\{(\w+)\}/g)].map((m) => ({
        name: m[1],
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...(route.bodies && {
        requestBody: {
          content: Object.fromEntries(route.bodies.map((type) => [type, { schema: { type: "object" } }])),
        },
      }),
      responses: { 200: { description: "The answer in the caller's dialect" } },
      // The playground is the console's own: a session instead of a key.
      security: route.path.startsWith("/pg/") ? [{ session: [], user: [] }] : [{ api_key: [] }],
    };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Weir",
      version: VERSION,
      description: "Self-hosted LLM API gateway: /v1 for models, /api for the console and scripts.",
    },
    paths,
    components: {
      securitySchemes: {
        api_key: { type: "http", scheme: "bearer", description: "An API token, sk-…" },
        session: { type: "apiKey", in: "cookie", name: "session" },
        user: { type: "apiKey", in: "header", name: "New-Api-User", description: "The signed-in user's id" },
        access_token: { type: "http", scheme: "bearer", description: "A system access token of the console" },
      },
    },
  };
}
