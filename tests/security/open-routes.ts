/** The routes that are open to anonymous callers; all others are closed to them. */
const PUBLIC = new Set([
  "GET /api/status",
  "GET /api/notice",
  "GET /api/about",
  "GET /api/home_page_content",
  "GET /api/setup",
  "POST /api/setup",
  "GET /api/pricing",
  "GET /api/user/groups",
  "GET /api/uptime/status",
  "GET /api/user-agreement",
  "GET /api/privacy-policy",
  "GET /api/rankings",
  "GET /api/ratio_config",
  // Answers guests only while the operator publishes it.
  "GET /api/status/models",
  "POST /api/user/login",
  "POST /api/user/login/2fa",
  "GET /api/user/logout",
  "POST /api/user/register",
  "GET /api/verification",
  "GET /api/reset_password",
  "POST /api/user/reset",
]);

export const isPublic = (route: { method: string; path: string }): boolean =>
  PUBLIC.has(`${route.method} ${route.path.replace(/\/$/, "")}`) ||
  /^\/api\/oauth\/(?!.*bind)/.test(route.path) ||
  route.path.startsWith("/api/user/passkey/login");

/** A route's path with a value for each parameter. */
export const filled = (path: string): string => path.replace(/\{\w+\}/g, "1");
