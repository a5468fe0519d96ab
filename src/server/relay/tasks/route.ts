/** Routes of jobs: paths with parameters, the caller's error format, access. routes.ts lists them. */
import { PING } from "../../lib/sse";
import type { SideHandler } from "../admission/side-call";
import type { Engine } from "../call/call";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import type { Responder } from "../response/responder";
import type { RelayError } from "../../protocol/relay-error";

/** A request to a route without authentication. */
export interface OpenRequest {
  engine: Engine;
  request: Request;
  responder: Responder;
}
export type OpenAnswer = (sideRequest: OpenRequest) => Promise<Response>;

/** Values of a path's parameters, decoded; never ''. */
export type Params = Readonly<Record<string, string>>;

interface RouteFacts {
  method: "GET" | "POST" | "DELETE";
  /** "/suno/fetch/{id}": a parameter is one segment. */
  path: string;
  dialect: CallerDialect;
  /** For generated documents: the route list and the OpenAPI file. */
  name: string;
}

export type TaskRoute = RouteFacts &
  /** `submits`: the route creates a job; then the engine applies limits and counts (submitTask). */
  (
    | { answer(params: Params): SideHandler; submits?: boolean; open?: undefined }
    /** Public to those who know the URL: images with an id that cannot be guessed. */
    | { open(params: Params): OpenAnswer; answer?: undefined; submits?: undefined }
  );

/** A caller's dialect without streams: its error format. */
export const taskDialect = (writeError: (error: RelayError) => object): CallerDialect => ({
  key: "openai-chat",
  ping: PING,
  writeError: (error) => JSON.stringify(writeError(error)),
});

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Finds the route of a path (without a trailing slash). Routes with fewer parameters match first. */
export function routeFinder(
  routes: readonly TaskRoute[],
): (method: string, path: string) => { route: TaskRoute; params: Params } | undefined {
  const parameters = (path: string): number => path.split("{").length;
  const known = routes
    .toSorted((a, b) => parameters(a.path) - parameters(b.path))
    .map((route) => {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
      const source = route.path
        .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
        .replace(/\{\w+\}/g, "([^/]+)")
        .replace(/\/$/, "");
      return { route, names, pattern: new RegExp(`^${source}$`) };
    });
  return (method, path) => {
    for (const { route, names, pattern } of known) {
      const found = route.method === method ? pattern.exec(path) : null;
      if (found)
        return { route, params: Object.fromEntries(names.map((name, i) => [name, decoded(found[i + 1] ?? "")])) };
    }
    return undefined;
  };
}
