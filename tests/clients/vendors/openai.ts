/** What OpenAI's two chat endpoints share: their errors, and how a rule's refusal is written. */
import type { ErrorAnswer } from "../../kit/fake-upstream/dialects/dialect";
import { openaiError, openaiErrorObject } from "../../kit/fake-upstream/dialects/openai-errors";
import type { Rule } from "./rule";
import type { Vendor } from "./vendor";

/** The models that the fake has: one that takes tools on both endpoints, one that takes them on Responses alone. */
export const CHAT_MODEL = "gpt-5.1";
export const RESPONSES_MODEL = "gpt-5.5";

export const TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again.";

/** developers.openai.com/api/docs/guides/error-codes, and answers that issues of its clients quote, 2026-11. */
export const openaiAnswers: Pick<Vendor, "tooLong" | "unknownModel" | "overloaded" | "refusal"> = {
  tooLong: { status: 400, body: openaiErrorObject(TOO_LONG, "invalid_request_error", "context_length_exceeded") },
  unknownModel: (model): ErrorAnswer => ({
    status: 404,
    body: openaiErrorObject(
      `The model \`${model}\` does not exist or you do not have access to it.`,
      "invalid_request_error",
      "model_not_found",
    ),
  }),
  overloaded: openaiError("overloaded"),
  refusal: (rule: Rule, message: string): ErrorAnswer => ({
    status: 400,
    body: openaiErrorObject(message, "invalid_request_error", rule.code ?? null),
  }),
};
