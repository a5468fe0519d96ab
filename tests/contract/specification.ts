/**
 * Every call of both specifications (section 7) and of existing front-ends, and the issue that delivers it. The
 * contract test compares the server with this table in both directions: a call that is due must be served, one that is
 * served must not be listed as due later.
 */

/** Who may make the call: everyone, signed-in users, role 10 and up, role 100. */
export type Access = "public" | "user" | "admin" | "root";

export interface Call {
  method: string;
  path: string;
  access: Access;
  /** The project's issue that delivers it. */
  issue: number;
}

const call = (line: string, access: Access, issue: number): Call => {
  const [method = "", path = ""] = line.split(" ");
  return { method, path, access, issue };
};

/** What new-api has added since July 2025 (router/api-router.go, read 2026-11), served as its front-end reads it. */
const SINCE_JULY_2025: readonly Call[] = [
  call("POST /api/token/{id}/key", "user", 2),
  call("POST /api/token/batch", "user", 2),
  call("POST /api/token/batch/keys", "user", 2),
  call("POST /api/channel/copy/{id}", "admin", 2),
  call("POST /api/channel/{id}/status", "admin", 2),
  call("POST /api/channel/multi_key/manage", "admin", 2),
  call("GET /api/channel/tag/models", "admin", 2),
  call("GET /api/channel/ops", "admin", 2),
  call("POST /api/topup", "admin", 2),
  call("GET /api/user/available_models", "user", 2),
  call("GET /api/user/dashboard", "user", 2),
  call("DELETE /api/user/{id}/2fa", "admin", 2),
  call("DELETE /api/user/{id}/reset_passkey", "admin", 2),
  call("GET /api/user/passkey", "user", 2),
  call("DELETE /api/user/passkey", "user", 2),
  call("POST /api/user/passkey/register/begin", "user", 2),
  call("POST /api/user/passkey/register/finish", "user", 2),
  call("POST /api/user/passkey/verify/begin", "user", 2),
  call("POST /api/user/passkey/verify/finish", "user", 2),
  call("POST /api/user/passkey/login/begin", "public", 2),
  call("POST /api/user/passkey/login/finish", "public", 2),
  call("POST /api/verify", "user", 2),
  call("POST /api/oauth/email/bind", "user", 2),
  call("POST /api/oauth/wechat/bind", "user", 2),
  // Asked by pages that are opened; the answer says off.
  call("GET /api/uptime/status", "public", 2),
  call("GET /api/user-agreement", "public", 2),
  call("GET /api/privacy-policy", "public", 2),
  call("GET /api/rankings", "public", 2),
  call("GET /api/perf-metrics/summary", "user", 2),
  call("GET /api/subscription/plans", "user", 2),
  call("GET /api/subscription/self", "user", 2),
  call("GET /api/data/flow/self", "user", 2),
  call("GET /api/data/flow", "admin", 2),
  call("GET /api/prefill_group/", "admin", 2),
  call("GET /api/vendors/", "admin", 2),
  call("GET /api/deployments/settings", "admin", 2),
  call("GET /api/custom-oauth-provider/", "root", 2),
  call("GET /api/system-task/list", "root", 2),
  call("GET /api/system-task/current", "root", 2),
  call("GET /api/system-info/instances", "root", 2),
  call("GET /api/ratio_sync/channels", "root", 2),
  call("GET /api/option/channel_affinity_cache", "root", 2),
  call("GET /api/performance/stats", "root", 2),
  call("GET /api/performance/logs", "root", 2),
];

export const CALLS: readonly Call[] = [
  ...SINCE_JULY_2025,
  // Status, content, first run
  call("GET /api/status", "public", 2),
  call("GET /api/notice", "public", 2),
  call("GET /api/about", "public", 2),
  call("GET /api/home_page_content", "public", 2),
  call("GET /api/setup", "public", 2),
  call("POST /api/setup", "public", 2),

  // Session and own account
  call("POST /api/user/login", "public", 2),
  call("GET /api/user/logout", "public", 2),
  call("GET /api/user/self", "user", 2),
  call("GET /api/user/models", "user", 2),
  call("GET /api/user/self/groups", "user", 2),
  call("GET /api/user/token", "user", 2),
  call("PUT /api/user/self", "user", 2),
  call("DELETE /api/user/self", "user", 2),
  // Due in issue 5; delivered with the low-quota warning of issue 4, with a test notification.
  call("PUT /api/user/setting", "user", 2),
  call("POST /api/user/setting/test", "user", 2),
  call("POST /api/user/register", "public", 2),
  call("GET /api/verification", "public", 2),
  call("GET /api/reset_password", "public", 2),
  call("POST /api/user/reset", "public", 2),
  // The next three were due in issue 4.
  call("GET /api/user/aff", "user", 2),
  call("POST /api/user/aff_transfer", "user", 2),
  call("POST /api/user/topup", "user", 2),
  call("POST /api/user/amount", "user", 2),
  call("POST /api/user/pay", "user", 2),
  // Not in the specification: calls that chat clients make for a balance.
  call("GET /api/user/topup/info", "user", 2),
  call("GET /api/user/topup/self", "user", 2),
  call("GET /api/user/topup", "admin", 2),
  call("POST /api/user/topup/complete", "admin", 2),
  call("POST /api/user/stripe/amount", "user", 2),
  call("POST /api/user/stripe/pay", "user", 2),

  // User management
  call("GET /api/user/", "admin", 2),
  call("GET /api/user/search", "admin", 2),
  call("GET /api/user/{id}", "admin", 2),
  call("POST /api/user/", "admin", 2),
  call("PUT /api/user/", "admin", 2),
  call("POST /api/user/manage", "admin", 2),
  // Beyond the specification, as all of new-api's of April 2025 that follow its calls here.
  call("DELETE /api/user/{id}", "admin", 2),
  call("GET /api/user/groups", "public", 2),
  call("GET /api/status/test", "admin", 2),

  // Third parties
  call("GET /api/oauth/state", "public", 2),
  call("GET /api/oauth/github", "public", 2),
  call("GET /api/oauth/linuxdo", "public", 2),
  call("GET /api/oauth/oidc", "public", 2),
  call("GET /api/oauth/wechat", "public", 2),
  call("GET /api/oauth/wechat/bind", "user", 2),
  call("GET /api/oauth/email/bind", "user", 2),
  call("GET /api/oauth/telegram/login", "public", 2),
  call("GET /api/oauth/telegram/bind", "user", 2),
  // Beyond the specification (D-70).
  call("GET /api/user/oauth/bindings", "user", 2),
  call("DELETE /api/user/oauth/bindings/{provider}", "user", 2),
  call("GET /api/user/2fa/status", "user", 2),
  call("POST /api/user/2fa/setup", "user", 2),
  call("POST /api/user/2fa/enable", "user", 2),
  call("POST /api/user/2fa/disable", "user", 2),
  call("POST /api/user/2fa/backup_codes", "user", 2),
  call("POST /api/user/login/2fa", "public", 2),

  // Groups, models, options
  call("GET /api/group/", "admin", 2),
  call("GET /api/models", "user", 2),
  call("GET /api/option/", "root", 2),
  call("PUT /api/option/", "root", 2),
  call("POST /api/option/rest_model_ratio", "root", 2),
  // Not in the specification: the button of the SMTP card.
  call("POST /api/option/test_mail", "root", 2),

  // Channels. The calls for many channels were due in issue 3 and delivered before the rest of it.
  call("GET /api/channel/", "admin", 2),
  call("GET /api/channel/search", "admin", 2),
  call("GET /api/channel/{id}", "admin", 2),
  call("POST /api/channel/", "admin", 2),
  call("PUT /api/channel/", "admin", 2),
  call("DELETE /api/channel/{id}", "admin", 2),
  call("GET /api/channel/{id}/keys", "admin", 2),
  call("POST /api/channel/{id}/keys", "admin", 2),
  call("PUT /api/channel/{id}/keys", "admin", 2),
  call("DELETE /api/channel/{id}/keys", "admin", 2),
  call("POST /api/channel/{id}/key", "root", 2),
  call("GET /api/channel/models", "admin", 2),
  call("GET /api/channel/models_enabled", "admin", 2),
  // Due in issue 3, beyond the specification.
  call("GET /api/channel/dry_run", "admin", 2),
  // What an operator does with a mistake (issue 14); not in the specification.
  call("POST /api/channel/test_draft", "admin", 2),
  call("POST /api/channel/{id}/rotate_key", "admin", 2),
  call("GET /api/channel/{id}/history", "admin", 2),
  call("POST /api/channel/{id}/restore", "admin", 2),
  call("GET /api/option/history", "root", 2),
  call("POST /api/option/restore", "root", 2),
  call("POST /api/log/refund", "admin", 2),
  call("POST /api/log/refund/undo", "admin", 2),
  call("GET /api/log/refunds", "admin", 2),
  call("GET /api/channel/fetch_models/{id}", "admin", 2),
  call("POST /api/channel/fetch_models", "admin", 2),
  call("GET /api/channel/test/{id}", "admin", 2),
  call("GET /api/channel/test", "admin", 2),
  call("GET /api/channel/update_balance/{id}", "admin", 2),
  call("GET /api/channel/update_balance", "admin", 2),
  call("DELETE /api/channel/disabled", "admin", 2),
  call("POST /api/channel/batch", "admin", 2),
  call("POST /api/channel/batch/tag", "admin", 2),
  call("POST /api/channel/fix", "admin", 2),
  call("GET /api/channel/test_upstream/{id}", "admin", 2),
  call("PUT /api/channel/tag", "admin", 2),
  call("POST /api/channel/tag/enabled", "admin", 2),
  call("POST /api/channel/tag/disabled", "admin", 2),

  // Tokens
  call("GET /api/token/", "user", 2),
  call("GET /api/token/search", "user", 2),
  call("GET /api/token/{id}", "user", 2),
  call("POST /api/token/", "user", 2),
  call("PUT /api/token/", "user", 2),
  call("DELETE /api/token/{id}", "user", 2),

  // Redemption codes. Due in issue 4; the last is not in the specification.
  call("GET /api/redemption/", "admin", 2),
  call("GET /api/redemption/search", "admin", 2),
  call("GET /api/redemption/{id}", "admin", 2),
  call("POST /api/redemption/", "admin", 2),
  call("PUT /api/redemption/", "admin", 2),
  call("DELETE /api/redemption/{id}", "admin", 2),
  call("DELETE /api/redemption/invalid", "admin", 2),

  // Logs and dashboard. The four reads were due in issue 4 and delivered with the log page of issue 2.
  call("GET /api/log/", "admin", 2),
  call("GET /api/log/stat", "admin", 2),
  call("GET /api/log/self", "user", 2),
  call("GET /api/log/self/stat", "user", 2),
  // Due in issue 4 as well, with the two searches that older front-ends use.
  call("DELETE /api/log/", "root", 2),
  call("GET /api/log/search", "admin", 2),
  call("GET /api/log/self/search", "user", 2),
  call("GET /api/data/", "admin", 2),
  call("GET /api/data/users", "admin", 2),
  call("GET /api/data/self", "user", 2),
  // Due in issue 4; delivered with the pricing page that issue 2 links to, and the tables for other gateways.
  call("GET /api/pricing", "public", 2),
  call("GET /api/ratio_config", "public", 2),

  // Not specified: price feeds, margin, incidents, drains, the status of models
  call("GET /api/data/margin", "admin", 2),
  call("GET /api/price_feed/", "root", 2),
  call("POST /api/price_feed/read", "root", 2),
  call("GET /api/price_feed/proposals", "root", 2),
  call("POST /api/price_feed/decide", "root", 2),
  call("GET /api/incident/", "admin", 2),
  call("GET /api/incident/bell", "admin", 2),
  call("GET /api/incident/{id}", "admin", 2),
  call("POST /api/incident/seen", "admin", 2),
  call("POST /api/incident/{id}/mute", "admin", 2),
  call("GET /api/incident/target", "root", 2),
  call("PUT /api/incident/target", "root", 2),
  call("DELETE /api/incident/target/{name}", "root", 2),
  call("POST /api/incident/target/test", "root", 2),
  call("GET /api/instance/", "admin", 2),
  call("POST /api/instance/{instance}/drain", "admin", 2),
  call("POST /api/instance/{instance}/resume", "admin", 2),
  call("POST /api/channel/{id}/drain", "admin", 2),
  call("GET /api/channel/{id}/drain", "admin", 2),
  call("POST /api/channel/{id}/resume", "admin", 2),
  call("POST /api/channel/{id}/keys/{key_id}/drain", "admin", 2),
  call("POST /api/channel/{id}/keys/{key_id}/resume", "admin", 2),
  call("GET /api/status/models", "public", 2),

  // Drawing and tasks, due in issue 6
  call("GET /api/mj/", "admin", 2),
  call("GET /api/mj/self", "user", 2),
  call("GET /api/task/", "admin", 2),
  call("GET /api/task/self", "user", 2),
];

/** The current issue of the project: everything due in it or earlier must be served. */
export const CURRENT_ISSUE = 2;

/** `GET /api/channel/{}`: without the names of parameters and without a trailing slash. */
export const sameCall = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${path.replace(/\{\w+\}/g, "{}").replace(/\/$/, "")}`;
