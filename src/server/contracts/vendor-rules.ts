/** The operator's settings for single vendors' models. */

export interface VendorRules {
  /** Option global.pass_through_request_enabled. */
  readonly pass_through: boolean;
  /** Model -> header -> values (claude.model_headers_settings). */
  readonly claude_headers: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
  /** Model, or "default" -> tokens (claude.default_max_tokens). */
  readonly claude_max_tokens: Readonly<Record<string, number>>;
  /**
   * The share of max_tokens that a model name ending in -thinking gives to thinking; undefined: the suffix has no
   * meaning.
   */
  readonly claude_thinking_share: number | undefined;
  /** The same for Gemini's names, which may also end in -nothinking and -thinking-<tokens>. */
  readonly gemini_thinking_share: number | undefined;
  /** Harm category, or "default" -> threshold (gemini.safety_settings). */
  readonly gemini_safety: Readonly<Record<string, string>>;
  /** Model, or "default" -> version of the API (gemini.version_settings). */
  readonly gemini_versions: Readonly<Record<string, string>>;
}
