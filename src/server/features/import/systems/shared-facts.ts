/** Small facts that several systems share. */

/** Columns of a log row that all three of the family have. */
export const LOG_COLUMNS = [
  "id",
  "user_id",
  "created_at",
  "type",
  "content",
  "username",
  "token_name",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
] as const;

/** OpenID Connect Discovery 1.0, section 4.1: the document's address is the issuer with this path after it. */
export const issuerOf = (well_known: string): string =>
  well_known.trim().replace(/\/?\.well-known\/openid-configuration\/?$/, "");
