/**
 * Connections whose request does not arrive are closed, as long as their caller is not known. Half a head is closed by
 * Bun, after some 10 s on a new connection; callers who are known may take their time, as uploads and answers do.
 */

/**
 * How long a connection waits for its next request. Proxies keep theirs for 60 s (nginx, load balancers): one that was
 * closed here first would be used once more, and the call on it would fail.
 */
export const KEEP_ALIVE_SECONDS = 75;

/** The part of Bun's server that sets the time-out of a request's connection; its own is back with the next request. */
interface Connections {
  timeout(request: Request, seconds: number): void;
}

export interface StallGuard {
  /** The head has arrived. */
  arrived(request: Request): void;
  /** Its caller has proved who they are: the time-outs of their calls are the relay's. */
  known(request: Request): void;
  /** The response is about to be sent. What is left of a refused request's body is not waited for any longer. */
  answered(request: Request, response: Response): void;
}

/** Whether a request comes with a body. */
export const hasBody = (headers: Headers): boolean =>
  headers.has("transfer-encoding") || Number(headers.get("content-length") ?? 0) !== 0;

/** `seconds`: from the head of a request with a body to its response, for callers who are not known. */
export function createStallGuard(seconds: number, connections: () => Connections | null): StallGuard {
  const known = new WeakSet<Request>();
  return {
    arrived: (request) => {
      if (hasBody(request.headers)) connections()?.timeout(request, seconds);
    },
    known: (request) => {
      known.add(request);
      connections()?.timeout(request, 0);
    },
    answered: (request, { status }) => {
      if (status < 400 && !known.has(request) && hasBody(request.headers))
        connections()?.timeout(request, KEEP_ALIVE_SECONDS);
    },
  };
}
