/** Google's Gemini API with the refusals that its clients meet. */
import { type Json, list, object, text } from "../../kit/fake-upstream/answer";
import type { ErrorAnswer } from "../../kit/fake-upstream/dialects/dialect";
import { gemini } from "../../kit/fake-upstream/dialects/gemini";
import type { Rule } from "./rule";
import type { Vendor } from "./vendor";

/** Proto JSON takes both spellings of a member (protobuf.dev/programming-guides/json, 2026-11). */
const either = (value: Json, camel: string, snake: string): unknown => value[camel] ?? value[snake];
const callOf = (part: Json): unknown => either(part, "functionCall", "function_call");
const responseOf = (part: Json): unknown => either(part, "functionResponse", "function_response");
const signatureOf = (part: Json): string => text(either(part, "thoughtSignature", "thought_signature"));

/** Base64 in one alphabet: proto JSON takes both. */
const plain = (base64: string): string => base64.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");

interface Turn {
  role: string;
  parts: Json[];
}

/** Neighbours of one role are one turn: the vendor's own SDKs keep one content for each piece of a stream. */
function turnsOf(request: Json): Turn[] {
  const turns: Turn[] = [];
  for (const content of list(request.contents).map(object)) {
    const role = text(content.role) === "model" ? "model" : "user";
    const parts = list(content.parts).map(object);
    const last = turns.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else turns.push({ role, parts });
  }
  return turns;
}

/** Members of a function's parameters that the Schema of an OpenAPI subset does not have. */
const UNKNOWN_IN_SCHEMA = ["additionalProperties", "$schema", "const", "exclusiveMinimum", "propertyNames"];

function unknownMember(schema: unknown, path: string): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  const known: Json = { ...schema };
  for (const name of UNKNOWN_IN_SCHEMA)
    if (name in known) return `Invalid JSON payload received. Unknown name "${name}" at '${path}': Cannot find field.`;
  for (const child of Object.values(object(known.properties))) {
    const found = unknownMember(child, `${path}.properties`);
    if (found) return found;
  }
  return unknownMember(known.items, `${path}.items`);
}

const rules: Rule[] = [
  {
    name: "as many function responses as calls",
    source: { at: "https://github.com/google-gemini/gemini-cli/issues/16984", date: "2026-01" },
    refuses: (request) => {
      const turns = turnsOf(request);
      for (const [at, turn] of turns.entries()) {
        const calls = turn.parts.filter(callOf).length;
        const responses = turns[at + 1]?.parts.filter(responseOf).length ?? 0;
        if (turn.role === "model" && calls > 0 && calls !== responses)
          return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
      }
      return undefined;
    },
  },
  {
    // The first call of each step; the page names two texts that stand for a signature not had.
    name: "Gemini 3 wants the signature of its calls back",
    source: { at: "https://ai.google.dev/gemini-api/docs/thought-signatures", date: "2026-11" },
    refuses: (request) => {
      const turns = turnsOf(request);
      const asked = turns.findLastIndex(({ role, parts }) => role === "user" && parts.some((part) => "text" in part));
      for (const [at, turn] of turns.entries()) {
        const first = turn.role === "model" && at > asked ? turn.parts.find(callOf) : undefined;
        if (first && signatureOf(first) === "")
          return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${text(object(callOf(first)).name)}\` , position ${at}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
      }
      return undefined;
    },
  },
  {
    name: "signatures come back as they were given",
    source: { at: "https://github.com/google-gemini/gemini-cli/issues/13467", date: "2025-11" },
    refuses: (request, { issued }) => {
      const known = new Set([...issued].map(plain));
      const allowed = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];
      const wrong = turnsOf(request)
        .flatMap(({ parts }) => parts)
        .map(signatureOf)
        .find(
          (signature) =>
            signature !== "" &&
            !known.has(plain(signature)) &&
            !allowed.includes(signature) &&
            !allowed.includes(Buffer.from(plain(signature), "base64").toString()),
        );
      return wrong === undefined ? undefined : "Corrupted thought signature.";
    },
  },
  {
    name: "parameters are in the vendor's own kind of schema",
    source: { at: "https://github.com/musistudio/claude-code-router/issues/187", date: "2025-07" },
    refuses: (request) => {
      for (const [at, tool] of list(request.tools).map(object).entries())
        for (const [index, declared] of list(either(tool, "functionDeclarations", "function_declarations")).entries()) {
          const path = `tools[${at}].function_declarations[${index}].parameters`;
          const found = unknownMember(object(declared).parameters, path);
          if (found) return found;
        }
      return undefined;
    },
  },
];

const answer = (code: number, status: string, message: string): ErrorAnswer => ({
  status: code,
  body: { error: { code, message, status } },
});

/** ai.google.dev/gemini-api/docs/troubleshooting, and answers that public issues of its clients quote, 2026-11. */
export const geminiVendor: Vendor = {
  dialect: gemini,
  rules,
  read: (request) => {
    const parts = turnsOf(request).flatMap((turn) => turn.parts);
    const config = object(either(request, "generationConfig", "generation_config"));
    const thinking = object(either(config, "thinkingConfig", "thinking_config"));
    return {
      tools: gemini.prompt(request).toolNames,
      calls: parts.filter(callOf).length,
      results: parts.filter(responseOf).map((part) => JSON.stringify(responseOf(part))),
      thoughts: parts.map((part) => plain(signatureOf(part))).filter((signature) => signature !== ""),
      thinks: either(thinking, "includeThoughts", "include_thoughts") === true,
      signs: true,
    };
  },
  tooLong: answer(
    400,
    "INVALID_ARGUMENT",
    "The input token count (1123456) exceeds the maximum number of tokens allowed (1048576).",
  ),
  unknownModel: (model) =>
    answer(
      404,
      "NOT_FOUND",
      `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
    ),
  overloaded: gemini.error("overloaded"),
  refusal: (_, message) => answer(400, "INVALID_ARGUMENT", message),
};
