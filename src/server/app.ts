/** The HTTP tree: health, tRPC, REST, callbacks, relay, playground, demo upstream, console files. */
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { Elysia } from "elysia";
import { AppError } from "../shared/errors";
import { TELEGRAM_ORIGIN } from "../shared/identity";
import { callbackRoutes } from "./wiring/callbacks";
import { type ClientFiles, isForConsole } from "./http/client-files";
import type { Ctx, Services } from "./contracts/context";
import type { Ready } from "./wiring/readiness";
import { TURNSTILE_COOKIE, TURNSTILE_ORIGIN } from "./features/auth/turnstile";
import { createDemoUpstream } from "./features/demo/upstream";
import { dataExport } from "./features/import/data-export";
import { logExport } from "./features/log/export";
import { logOfKey } from "./features/log/own-key";
import { paymentOrigins } from "./features/order/service";
import { taskFile } from "./features/task/file";
import type { Scraper } from "./features/metrics/page";
import { admitToPlayground, playgroundUser } from "./features/playground/admit";
import { tokenUsage } from "./features/token/own-key";
import { type ClientAddress, countedAddress, createAddressReader } from "./http/address";
import { bodyLimit, boundedRequest, trpcIsPublic, trpcNames } from "./http/body";
import { createEdge } from "./http/edge";
import { envelopeOf, logUnexpected, toAppError } from "./http/fail";
import { API_HEADERS, consoleHeaders, frameOrigins } from "./http/headers";
import { openApi } from "./http/openapi";
import { languageOf } from "./http/language";
import { foreignRequest, requestFacts } from "./http/own-page";
import { answerPlain, type PlainRoute, preflight } from "./http/plain";
import { newRequestId } from "./http/request-id";
import { answerRest, type RestRoute, restRoutes } from "./http/rest";
import { createStallGuard, KEEP_ALIVE_SECONDS, type StallGuard } from "./http/stall";
import { actorOf, presentedBy, readCookie } from "./http/session";
import { whileStanding } from "./http/standing";
import type { ConsoleAuthentication } from "./relay/admission/authenticate";
import type { Relay } from "./relay/entry/handle";
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
  /** What was changed (features/changes/stream.ts). */
  changes: PlainRoute;
  /** The response of /metrics. */
  metrics(scraper: Scraper): Promise<Response>;
  /** What /readyz reports (wiring/readiness.ts). */
  ready(): Promise<Ready>;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
const GLOBAL_WINDOW_SECONDS = 180;

/** Public addresses of the relay; relay/entry/routes.ts has what each of them answers. */
const RELAY_PATHS = [
  "/v1/*",
  "/v1beta/*",
  "/v1alpha/*",
  "/openai/*",
  "/dashboard/*",
  "/suno/*",
  "/mj/*",
  "/:mode/mj/*",
  "/kling/*",
  "/jimeng",
  "/jimeng/*",
];

interface Peer {
  requestIP(request: Request): { address: string } | null;
}

/** Bodies are read by the procedures, within their limits. */
const UNPARSED = { parse: "none" } as const;

export function createApp(parts: AppParts) {
  const app = newApp(parts.services);
  const stalls = createStallGuard(parts.services.env.WEIR_STALL_SECONDS, () => app.server);
  const incoming = readIncoming(parts, stalls);
  wrapRoutes(app, parts.services, incoming, stalls);
  const rest = restRoutes(appRouter);
  addHealth(app, parts, incoming);
  addTrpc(app, parts.services, incoming, rest);
  addRest(app, incoming, rest);
  addPlainRoutes(app, incoming, [logExport, dataExport, logOfKey, tokenUsage, parts.tail, parts.changes, taskFile]);
  addCallbacks(app, parts.services, incoming);
  for (const method of METHODS) app.route(method, "/api/*", ({ request }) => notFound(request), UNPARSED);
  addRelay(app, parts.relay, incoming, stalls);
  addPlayground(app, parts, incoming, stalls);
  addDemo(app, parts.services);
  addConsole(app, parts);
  return app;
}

type App = ReturnType<typeof newApp>;

function newApp({ env, log }: Services) {
  const app = new Elysia({
    // Elysia's standard mode cuts the path after a fixed number of characters, which a short Host header shifts.
    handler: { standardHostname: false },
    serve: {
      // With one worker a second process on the same port is a mistake, and must fail.
      reusePort: env.WEIR_WORKERS > 1,
      // Lifted for known callers: timeouts of quiet streams and slow upstreams are the relay's.
      idleTimeout: KEEP_ALIVE_SECONDS,
      maxRequestBodySize: env.WEIR_MAX_BODY_MB * 1024 * 1024,
    },
    websocket: socketLimits,
  });
  // The last boundary: an error that no route caught leaves a request id and nothing more.
  app.onError(({ error, code, request }) => {
    if (code === "NOT_FOUND") return notFound(request);
    const request_id = newRequestId();
    const found = toAppError(error);
    logUnexpected({ log, request_id }, found, { path: pathOf(request.url).slice(0, 200) });
    const { status, body } = envelopeOf(found, languageOf(request.headers), request_id);
    return Response.json(body, { status, headers: { ...API_HEADERS, "x-request-id": request_id } });
  });
  return app;
}

/** What the routes need to know of a request besides its body. */
interface Incoming {
  /** The socket's address. */
  peerOf(request: Request, server: Peer | null): string;
  /** The caller's address, as far as trusted proxies report it. */
  clientOf(request: Request, server: Peer | null): ClientAddress;
  /** `shown`: see PlainRoute. */
  contextOf(request: Request, from: ClientAddress, setCookie: Ctx["setCookie"], shown?: boolean): Promise<Ctx>;
  /** The refusal, when the client address has used up the limit of all of /api. */
  overLimit(from: ClientAddress, headers: Headers): Promise<Response | undefined>;
}

function readIncoming({ services, relay }: AppParts, stalls: StallGuard): Incoming {
  let unbelieved: string | undefined;
  const addressOf = createAddressReader(services.env.WEIR_TRUSTED_PROXIES, (peer) => {
    unbelieved = peer;
    services.log.warn(
      { peer },
      "a proxy forwards its callers' addresses, but is not listed in WEIR_TRUSTED_PROXIES: all of them count as one caller",
    );
  });
  const peerOf: Incoming["peerOf"] = (request, server) => server?.requestIP(request)?.address ?? "127.0.0.1";
  return {
    peerOf,
    clientOf: (request, server) => addressOf(request.headers, peerOf(request, server)),
    contextOf: async (request, from, setCookie, shown = false) => {
      const { headers } = request;
      const presented = presentedBy(headers);
      const request_id = newRequestId();
      const actor = await actorOf(services, presented, request_id, shown);
      if (actor.kind === "user") stalls.known(request);
      return {
        ...services,
        actor,
        taskService: relay.tasks,
        request_id,
        ip: from.ip,
        claimed_ip: from.claimed,
        unbelieved_proxy: unbelieved,
        request: requestFacts(request, from.host),
        idempotency_key: headers.get("idempotency-key") ?? undefined,
        lang: languageOf(headers),
        user_agent: headers.get("user-agent") ?? "",
        session_cookie: presented.cookie,
        browser_cookie: presented.browser_cookie,
        device_cookie: presented.device_cookie,
        turnstile_cookie: readCookie(headers.get("cookie"), TURNSTILE_COOKIE),
        secure: from.secure,
        setCookie,
      };
    },
    overLimit: async (from, headers) => {
      const limit = services.env.WEIR_API_RATE_LIMIT;
      if (limit === 0) return undefined;
      const { counter } = services.cluster;
      const take = await counter.take(`api:${countedAddress(from.ip)}`, 1, limit, GLOBAL_WINDOW_SECONDS);
      if (take.allowed) return undefined;
      const { body } = envelopeOf(new AppError("too_many_requests"), languageOf(headers), "");
      return Response.json(body, {
        status: 429,
        headers: { ...API_HEADERS, "retry-after": String(take.reset_seconds) },
      });
    },
  };
}

/** Around the handlers of all routes, those that the socket's own router finds included. */
function wrapRoutes(app: App, { env }: Services, { clientOf }: Incoming, stalls: StallGuard): void {
  const isProxied = env.WEIR_TRUSTED_PROXIES.length > 0;
  const edge = createEdge((request) => isProxied && clientOf(request, app.server).secure, stalls);
  app.wrap((route) => (request: Request) => edge(request, () => route(request) as unknown as Response));
}

function notFound(request: Request): Response {
  const { pathname } = new URL(request.url);
  const error = new AppError("not_found", { method: request.method, path: pathname });
  const { status, body } = envelopeOf(error, languageOf(request.headers), "");
  return Response.json(body, { status, headers: API_HEADERS });
}

const bothSlashForms = (path: string): [string, string] => [path, `${path}/`];

function addHealth(app: App, { ready, metrics }: AppParts, { peerOf }: Incoming): void {
  app.get("/healthz", () => Response.json({ status: "ok" }, { headers: API_HEADERS }));
  app.get("/readyz", async () => {
    const state = await ready();
    return Response.json(state, { status: state.ready ? 200 : 503, headers: API_HEADERS });
  });
  // The socket's address: a forwarded one could be invented.
  app.get("/metrics", ({ request, server }) => metrics({ peer: peerOf(request, server), headers: request.headers }));
}

function addTrpc(app: App, services: Services, incoming: Incoming, rest: readonly RestRoute[]): void {
  const uncounted = new Set(rest.filter((route) => route.meta.uncounted).map((route) => route.procedure));
  const answer = async (request: Request, server: Peer | null): Promise<Response> => {
    const names = trpcNames(request.url);
    if (!names) return notFound(request);
    const from = incoming.clientOf(request, server);
    const cookies: string[] = [];
    const ctx = await incoming.contextOf(request, from, (line) => cookies.push(line));
    if (ctx.actor.kind === "guest" && !names.every((name) => uncounted.has(name))) {
      const refused = await incoming.overLimit(from, request.headers);
      if (refused) return refused;
    }
    return fetchRequestHandler({
      endpoint: "/trpc",
      req: boundedRequest(request, bodyLimit(ctx, trpcIsPublic(appRouter, names))),
      router: appRouter,
      createContext: () => ctx,
      responseMeta: ({ errors }) => {
        const headers = new Headers({ ...API_HEADERS, "x-request-id": ctx.request_id });
        const waits = errors.flatMap((error) => toAppError(error).values.retry_after ?? []);
        if (waits.length > 0) headers.set("retry-after", String(Math.max(...waits.map(Number))));
        for (const line of cookies) headers.append("set-cookie", line);
        return { headers };
      },
    });
  };
  app.get("/trpc/*", ({ request, server }) => answer(request, server));
  app.post("/trpc/*", ({ request, server }) => answer(request, server), UNPARSED);
}

function addRest(app: App, { clientOf, contextOf, overLimit }: Incoming, rest: readonly RestRoute[]): void {
  let document: ReturnType<typeof openApi> | undefined;
  app.get("/api/openapi.json", () =>
    Response.json((document ??= openApi(rest, callbackRoutes)), { headers: API_HEADERS }),
  );
  for (const route of rest) {
    const answer = async (request: Request, server: Peer | null, params: Record<string, string>) => {
      const from = clientOf(request, server);
      const refused = route.meta.uncounted ? undefined : await overLimit(from, request.headers);
      if (refused) return refused;
      const cookies: string[] = [];
      const ctx = await contextOf(request, from, (line) => cookies.push(line));
      const response = await answerRest(route, request, params, ctx, createCaller);
      response.headers.set("x-request-id", ctx.request_id);
      for (const line of cookies) response.headers.append("set-cookie", line);
      return response;
    };
    for (const path of bothSlashForms(route.path.replace(/\{(\w+)\}/g, ":$1").replace(/\/$/, "")))
      app.route(
        route.method,
        path,
        ({ request, server, params }) => answer(request, server, (params ?? {}) as Record<string, string>),
        UNPARSED,
      );
  }
}

function addPlainRoutes(app: App, { clientOf, contextOf, overLimit }: Incoming, routes: readonly PlainRoute[]): void {
  for (const route of routes) {
    for (const path of bothSlashForms(route.line.slice("GET ".length))) {
      app.get(path, async ({ request, server }) => {
        const from = clientOf(request, server);
        const refused = await overLimit(from, request.headers);
        if (refused) return refused;
        const ctx = await contextOf(request, from, () => {}, route.shown);
        const response = await answerPlain(route, ctx, request);
        response.headers.set("x-request-id", ctx.request_id);
        return response;
      });
      if (route.cors) app.options(path, ({ request }) => preflight(request));
    }
  }
}

/** The limit of /api by address does not count these: a payment gateway calls from one address for all payers. */
function addCallbacks(app: App, services: Services, { clientOf }: Incoming): void {
  for (const route of callbackRoutes) {
    const answer = async (request: Request, server: Peer | null): Promise<Response> => {
      try {
        return await route.answer(services, request, clientOf(request, server).ip);
      } catch (err) {
        // Not 2xx, so that the caller tries again.
        const request_id = newRequestId();
        services.log.error({ err, path: route.path, request_id }, "a callback could not be answered");
        return new Response("fail", { status: 500, headers: { "x-request-id": request_id } });
      }
    };
    for (const path of bothSlashForms(route.path))
      app.route(route.method, path, ({ request, server }) => answer(request, server), UNPARSED);
  }
}

function addRelay(app: App, relay: Relay, { clientOf }: Incoming, stalls: StallGuard): void {
  for (const method of METHODS) {
    for (const path of RELAY_PATHS) {
      app.route(
        method,
        path,
        ({ request, server }) => {
          // Elysia's socket handler calls the members of `data` with raw frames; its own .ws() would parse and rewrite
          // them.
          const upgrade: Upgrade = (headers, data) => server?.upgrade(request, { headers, data }) ?? false;
          const known = (): void => stalls.known(request);
          return relay.handle(request, clientOf(request, server).ip, newRequestId(), upgrade, known);
        },
        UNPARSED,
      );
    }
  }
}

/** Calls of the console's playground: the relay's, for a session instead of a relay key. */
function addPlayground(app: App, { services, relay }: AppParts, { clientOf }: Incoming, stalls: StallGuard): void {
  /** `arrived`: the request as it came, by which its connection is known. */
  const answer = async (request: Request, server: Peer | null, arrived = request): Promise<Response> => {
    const requestId = newRequestId();
    const actor = await actorOf(services, presentedBy(request.headers), requestId);
    if (actor.kind === "user") stalls.known(arrived);
    const from = clientOf(arrived, server);
    const foreign = foreignRequest({ ...services, actor, request: requestFacts(request, from.host) });
    const authentication: ConsoleAuthentication = (lang) => {
      const user = playgroundUser(actor);
      if (foreign) throw foreign;
      return (body) => admitToPlayground(services, user, body, lang);
    };
    const relayed = (asked: Request) => relay.handleAs(authentication, asked, from.ip, requestId);
    if (actor.kind !== "user") return relayed(request);
    const response = await whileStanding(services, request, actor, relayed);
    if (response) return response;
    const { status, body } = envelopeOf(new AppError("not_signed_in"), languageOf(request.headers), requestId);
    return Response.json(body, { status, headers: API_HEADERS });
  };
  app.post("/pg/chat/completions", ({ request, server }) => answer(request, server), UNPARSED);
  // Jobs have the relay's address behind /pg. Other calls than chat and jobs are not offered here.
  app.post(
    "/pg/*",
    ({ request, server }) => {
      const address = new URL(request.url);
      address.pathname = address.pathname.slice("/pg".length);
      return submitsJob(pathOf(address.href))
        ? answer(new Request(address, request), server, request)
        : notFound(request);
    },
    UNPARSED,
  );
}

function addDemo(app: App, { secrets }: Services): void {
  const demo = createDemoUpstream({ secrets });
  app.get("/demo/v1/*", ({ request }) => demo(request));
  app.post("/demo/v1/*", ({ request }) => demo(request), UNPARSED);
}

function addConsole(app: App, { services, files }: AppParts): void {
  const { options } = services;
  const answer = ({ request }: { request: Request }): Response => {
    if (!isForConsole(request)) return notFound(request);
    const telegram = options.get("TelegramOAuthEnabled") ? [TELEGRAM_ORIGIN] : [];
    const scripts = options.get("TurnstileCheckEnabled") ? [TURNSTILE_ORIGIN] : [];
    const frames = [
      ...frameOrigins([options.get("About"), options.get("HomePageContent")], options.get("Chats")),
      ...telegram,
      ...scripts,
    ];
    return files(request, consoleHeaders({ frames, forms: paymentOrigins(services), scripts }));
  };
  app.get("/docs", () => new Response(null, { status: 302, headers: { location: "/docs/index.html" } }));
  app.get("/*", answer);
  app.head("/*", answer);
}
