/**
 * Options that can be set and that nothing reads yet: their field says so. `scripts/docs.ts` fails when this list and the
 * server's source differ; it is empty when the last of the issues that owe a reader is done.
 */
import type { Text } from "../text";

export const UNREAD_NOTE: Text = { zh: "尚未生效：此版本还不读取这一项", en: "No effect yet: this release does not read it" };

export const unreadOptions: ReadonlySet<string> = new Set([
  "tool_price_setting.prices",
  "MjAccountFilterEnabled",
  "MjForwardUrlEnabled",
  "MjModeClearEnabled",
  "MjActionCheckSuccessEnabled",
  "StopOnSensitiveEnabled",
  "global.pass_through_request_enabled",
  "claude.model_headers_settings",
  "claude.default_max_tokens",
  "claude.thinking_adapter_enabled",
  "claude.thinking_adapter_budget_tokens_percentage",
  "gemini.safety_settings",
  "gemini.version_settings",
]);
