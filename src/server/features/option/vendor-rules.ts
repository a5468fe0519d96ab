/** The operator's settings for calls to single makers' models (card "models"), by value at the time of the call. */
import type { VendorRules } from "../../contracts/vendor-rules";
import type { OptionStore } from "../../contracts/option-store";

/** The current rules; each member is read at every access. */
export const vendorRules = (options: Pick<OptionStore, "get">): VendorRules => ({
  get pass_through() {
    return options.get("global.pass_through_request_enabled");
  },
  get claude_headers() {
    return options.get("claude.model_headers_settings");
  },
  get claude_max_tokens() {
    return options.get("claude.default_max_tokens");
  },
  get claude_thinking_share() {
    return options.get("claude.thinking_adapter_enabled")
      ? options.get("claude.thinking_adapter_budget_tokens_percentage")
      : undefined;
  },
  get gemini_thinking_share() {
    return options.get("gemini.thinking_adapter_enabled")
      ? options.get("gemini.thinking_adapter_budget_tokens_percentage")
      : undefined;
  },
  get gemini_safety() {
    return options.get("gemini.safety_settings");
  },
  get gemini_versions() {
    return options.get("gemini.version_settings");
  },
});
