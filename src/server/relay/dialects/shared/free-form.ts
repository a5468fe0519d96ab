/** OpenAI's word for tools that take plain text instead of JSON, in chat and in Responses. */
export const FREE_FORM = "custom";
