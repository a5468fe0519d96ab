import { join, normalize } from "node:path";

/** The fake server's responses to `/api/*` and `/trpc/*`; the key is the path without its query. */
export type FakeAnswers = Record<string, (request: Request) => Response | Promise<Response>>;

/** A successful response of a route. */
export function envelope(data: unknown): Response {
  return Response.json({ success: true, message: "", data });
}

/** A public status as a fresh installation has it. */
export const freshStatus = {
  version: "v0.1.1",
  setup: true,
  system_name: "Weir",
  logo: "",
  footer_html: "",
  server_address: "",
  quota_per_unit: 500_000,
  display_in_currency: true,
  default_collapse_sidebar: false,
  enable_drawing: true,
  enable_task: true,
  enable_data_export: true,
  chats: [],
};

/**
 * Serves a built console (scripts/build-client.ts) with fake responses, for browser tests of the shell alone. The
 * content security policy is the strict one of the real server, so that violations show here too.
 */
export function serveConsole(dist: string, answers: FakeAnswers = {}): { url: string; stop: () => Promise<void> } {
  const known: FakeAnswers = { "/api/status": () => envelope(freshStatus), ...answers };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const answer = known[pathname];
      if (answer) return answer(request);
      if (pathname.startsWith("/api/") || pathname.startsWith("/trpc/")) {
        return Response.json({ success: false, message: `接口不存在：${pathname}` }, { status: 404 });
      }
      const file = Bun.file(join(dist, normalize(pathname)));
      const found = pathname !== "/" && (await file.exists());
      return new Response(found ? file : Bun.file(join(dist, "index.html")), {
        headers: {
          "content-security-policy":
            "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: https:; " +
            "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}
