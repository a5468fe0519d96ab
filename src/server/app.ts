/** The whole HTTP tree on one screen: health, tRPC, REST, relay, console files. */
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { Elysia } from "elysia";
import { AppError } from "../shared/errors";
import { TELEGRAM_ORIGIN } from "../shared/identity";
import type { Lang } from "../shared/text";
import { callbackRoutes } from "./wiring/callbacks";
import type { ClientFiles } from "./http/client-files";
import type { Ctx, Services } from "./contracts/context";
import type { Ready } from "./wiring/readiness";
import { TURNSTILE_COOKIE, TURNSTILE_ORIGIN } from "./features/auth/turnstile";
import { createDemoUpstream } from "./features/demo/upstream";
import { logExport } from "./features/log/export";
import { logOfKey } from "./features/log/own-key";
import { paymentOrigins } from "./features/order/service";
import { taskFile } from "./features/task/file";
import type { Scraper } from "./features/metrics/page";
import { admitToPlayground, playgroundUser } from "./features/playground/admit";
import { tokenUsage } from "./features/token/own-key";
import { type ClientAddress, countedAddress, createAddressReader } from "./http/address";
import { bodyLimit, boundedRequest, trpcIsPublic } from "./http/body";
import { envelopeOf, logUnexpected, toAppError } from "./http/fail";
import { API_HEADERS, consoleHeaders, frameOrigins } from "./http/headers";
import { openApi } from "./http/openapi";
import { foreignRequest, requestFacts } from "./http/own-page";
import { answerPlain, type PlainRoute, preflight } from "./http/plain";
import { newRequestId } from "./http/request-id";
import { answerRest, restRoutes } from "./http/rest";
import { actorOf, presentedBy, readCookie } from "./http/session";
import type { Admit, Relay } from "./relay/entry/handle";
import type { Upgrade } from "./relay/realtime/open";
import { pathOf, submitsJob } from "./relay/entry/routes";
import { socketLimits } from "./relay/realtime/session";
import { appRouter, createCaller } from "./router";

export interface AppParts {
  services: Services;
  relay: Relay;
  files: ClientFiles;
  /** The live log (features/log/tail.ts). */
  tail: PlainRoute;
  /** What /metrics answers. */
  metrics(scraper: Scraper): Promise<Response>;
  /** What /readyz reports; see readiness.ts. */
  ready(): Promise<Ready>;
}

/** Chinese unless the first wish is English (checklist D-78). */
export const languageOf = (headers: Headers): Lang =>
  /^\s*en\b/i.test(headers.get("accept-language") ?? "") ? "en" : "zh";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const GLOBAL_WINDOW_SECONDS = 180;

interface Peer {
  requestIP(request: Request): { address: string } | null;
}

export function createApp({ services, relay, files, tail, ready, metrics }: AppParts) {
  const addressOf = createAddressReader(services.env.WEIR_TRUSTED_PROXIES);
  const peerOf = (request: Request, server: Peer | null): string => server?.requestIP(request)?.address ?? "127.0.0.1";
  const whereFrom = (request: Request, server: Peer | null): ClientAddress =>
    addressOf(request.headers, peerOf(request, server));

  const contextOf = async (
    request: Request,
    from: ClientAddress,
    setCookie: (line: string) => void,
    shown = false,
  ): Promise<Ctx> => {
    const { headers } = request;
    const presented = presentedBy(headers);
    const request_id = newRequestId();
    return {
      ...services,
      actor: await actorOf(services, presented, request_id, shown),
      taskService: relay.tasks,
      request_id,
      ip: from.ip,
      request: requestFacts(request, from.host),
      lang: languageOf(headers),
      user_agent: headers.get("user-agent") ?? "",
      session_cookie: presented.cookie,
      browser_cookie: presented.browser_cookie,
      turnstile_cookie: readCookie(headers.get("cookie"), TURNSTILE_COOKIE),
      secure: from.secure,
      setCookie,
    };
  };

  /** The limit of all of /api, by client address. */
  const overLimit = async (from: ClientAddress, headers: Headers): Promise<Response | undefined> => {
    const limit = services.env.WEIR_API_RATE_LIMIT;
    if (limit === 0) return undefined;
    const take = await services.cluster.counter.take(`api:${countedAddress(from.ip)}`, 1, limit, GLOBAL_WINDOW_SECONDS);
    if (take.allowed) return undefined;
    const { body } = envelopeOf(new AppError("too_many_requests"), languageOf(headers), "");
    return Response.json(body, { status: 429, headers: { ...API_HEADERS, "retry-after": String(take.reset_seconds) } });
  };

  const routes = restRoutes(appRouter);
  const uncounted = new Set(routes.filter((route) => route.meta.uncounted).map((route) => route.procedure));

  const trpc = async (request: Request, server: Peer | null): Promise<Response> => {
    const from = whereFrom(request, server);
    const cookies: string[] = [];
    const ctx = await contextOf(request, from, (line) => cookies.push(line));
    const names = new URL(request.url).pathname.slice("/trpc/".length).split(",");
    if (ctx.actor.kind === "guest" && !names.every((name) => uncounted.has(name))) {
      const refused = await overLimit(from, request.headers);
      if (refused) return refused;
    }
    return fetchRequestHandler({
      endpoint: "/trpc",
      req: boundedRequest(request, bodyLimit(ctx, trpcIsPublic(appRouter, request.url))),
      router: appRouter,
      createContext: () => ctx,
      responseMeta: () => {
        const headers = new Headers({ ...API_HEADERS, "x-request-id": ctx.request_id });
        for (const line of cookies) headers.append("set-cookie", line);
        return { headers };
      },
    });
  };

  const notFound = (request: Request): Response => {
    const { pathname } = new URL(request.url);
    const error = new AppError("not_found", { method: request.method, path: pathname });
    const { status, body } = envelopeOf(error, languageOf(request.headers), "");
    return Response.json(body, { status, headers: API_HEADERS });
  };

  const app = new Elysia({
    // Without this a short Host header shifts the path by one segment (facts/stack.md 2).
    handler: { standardHostname: false },
    serve: {
      // Two instances on one port only on purpose.
      reusePort: services.env.WEIR_WORKERS > 1,
      // Quiet streams and slow upstreams are ours to time out, in the relay.
      idleTimeout: 0,
      maxRequestBodySize: services.env.WEIR_MAX_BODY_MB * 1024 * 1024,
    },
    websocket: socketLimits,
  });

  // The last boundary: whatever a door did not catch leaves a request id and nothing more.
  app.onError(({ error, code, request }) => {
    if (code === "NOT_FOUND") return;
    const request_id = newRequestId();
    const found = toAppError(error);
    logUnexpected({ log: services.log, request_id }, found, { path: pathOf(request.url).slice(0, 200) });
    const { status, body } = envelopeOf(found, languageOf(request.headers), request_id);
    return Response.json(body, { status, headers: { ...API_HEADERS, "x-request-id": request_id } });
  });

  app.get("/healthz", () => Response.json({ status: "ok" }, { headers: API_HEADERS }));
  app.get("/readyz", async () => {
    const state = await ready();
    return Response.json(state, { status: state.ready ? 200 : 503, headers: API_HEADERS });
  });

  // The socket's address: a forwarded one could be invented.
  app.get("/metrics", ({ request, server }) => metrics({ peer: peerOf(request, server), headers: request.headers }));

  app.get("/trpc/*", ({ request, server }) => trpc(request, server));
  app.post("/trpc/*", ({ request, server }) => trpc(request, server), { parse: "none" });

  const document = openApi(routes, callbackRoutes);
  app.get("/api/openapi.json", () => Response.json(document, { headers: API_HEADERS }));
  for (const route of routes) {
    const path = route.path.replace(/\{(\w+)\}/g, ":$1").replace(/\/$/, "");
    for (const spelling of [path, `${path}/`]) {
      app.route(
        route.method,
        spelling,
        async ({ request, server, params }) => {
          const from = whereFrom(request, server);
          const refused = route.meta.uncounted ? undefined : await overLimit(from, request.headers);
          if (refused) return refused;
          const cookies: string[] = [];
          const ctx = await contextOf(request, from, (line) => cookies.push(line));
          const response = await answerRest(
            route,
            request,
            (params ?? {}) as Record<string, string>,
            ctx,
            createCaller,
          );
          response.headers.set("x-request-id", ctx.request_id);
          for (const line of cookies) response.headers.append("set-cookie", line);
          return response;
        },
        { parse: "none" },
      );
    }
  }
  const plain: readonly PlainRoute[] = [logExport, logOfKey, tokenUsage, tail, taskFile];
  for (const door of plain) {
    const path = door.line.slice("GET ".length);
    for (const spelling of [path, `${path}/`]) {
      app.get(spelling, async ({ request, server }) => {
        const from = whereFrom(request, server);
        const refused = await overLimit(from, request.headers);
        if (refused) return refused;
        const ctx = await contextOf(request, from, () => {}, door.shown);
        const response = await answerPlain(door, ctx, request);
        response.headers.set("x-request-id", ctx.request_id);
        return response;
      });
      if (door.cors) app.options(spelling, ({ request }) => preflight(request));
    }
  }
  for (const { method, path, answer } of callbackRoutes) {
    for (const spelling of [path, `${path}/`]) {
      app.route(
        method,
        spelling,
        async ({ request, server }) => {
          try {
            return await answer(services, request, whereFrom(request, server).ip);
          } catch (err) {
            // Not 2xx: whoever called will call again.
            const request_id = newRequestId();
            services.log.error({ err, path, request_id }, "a callback could not be answered");
            return new Response("fail", { status: 500, headers: { "x-request-id": request_id } });
          }
        },
        { parse: "none" },
      );
    }
  }
  for (const method of METHODS) app.route(method, "/api/*", ({ request }) => notFound(request), { parse: "none" });

  for (const method of METHODS) {
    for (const path of [
      "/v1/*",
      "/v1beta/*",
      "/dashboard/*",
      "/suno/*",
      "/mj/*",
      "/:mode/mj/*",
      "/kling/*",
      "/jimeng",
      "/jimeng/*",
    ]) {
      app.route(
        method,
        path,
        ({ request, server }) => {
          // Elysia's socket handler calls the members of `data` with raw frames; its own .ws() would parse and rewrite
          // them.
          const upgrade: Upgrade = (headers, data) => server?.upgrade(request, { headers, data }) ?? false;
          return relay.handle(request, whereFrom(request, server).ip, newRequestId(), upgrade);
        },
        { parse: "none" },
      );
    }
  }

  const playground = async (request: Request, server: Peer | null): Promise<Response> => {
    const requestId = newRequestId();
    const actor = await actorOf(services, presentedBy(request.headers), requestId);
    const from = whereFrom(request, server);
    const foreign = foreignRequest({ ...services, actor, request: requestFacts(request, from.host) });
    const admit: Admit = (lang) => {
      const user = playgroundUser(actor);
      if (foreign) throw foreign;
      return (body) => admitToPlayground(services, user, body, lang);
    };
    return relay.handleAs(admit, request, from.ip, requestId);
  };
  app.post("/pg/chat/completions", ({ request, server }) => playground(request, server), { parse: "none" });
  // Jobs: the public address behind /pg, by session instead of key. Other calls beside chat have no door here.
  app.post(
    "/pg/*",
    ({ request, server }) => {
      const address = new URL(request.url);
      address.pathname = address.pathname.slice("/pg".length);
      return submitsJob(pathOf(address.href)) ? playground(new Request(address, request), server) : notFound(request);
    },
    { parse: "none" },
  );

  const demo = createDemoUpstream({ secrets: services.secrets });
  app.get("/demo/v1/*", ({ request }) => demo(request));
  app.post("/demo/v1/*", ({ request }) => demo(request), { parse: "none" });

  app.get("/docs", () => new Response(null, { status: 302, headers: { location: "/docs/index.html" } }));
  const page = ({ request }: { request: Request }): Response => {
    const { options } = services;
    const telegram = options.get("TelegramOAuthEnabled") ? [TELEGRAM_ORIGIN] : [];
    const scripts = options.get("TurnstileCheckEnabled") ? [TURNSTILE_ORIGIN] : [];
    const frames = [
      ...frameOrigins([options.get("About"), options.get("HomePageContent")], options.get("Chats")),
      ...telegram,
      ...scripts,
    ];
    return files(request, consoleHeaders({ frames, forms: paymentOrigins(services), scripts }));
  };
  app.get("/*", page);
  app.head("/*", page);
  return app;
}
