/**
 * A browser's globals and Testing Library for component tests: the first import of each client test that needs a
 * document, and of no other test.
 *
 * happy-dom would replace the network and stream globals too; Bun's own are put back, so that tRPC streaming and real
 * servers work in the same process.
 */
import { GlobalRegistrator } from "@happy-dom/global-registrator";

const NATIVE = [
  "fetch",
  "Request",
  "Response",
  "Headers",
  "FormData",
  "Blob",
  "File",
  "URL",
  "URLSearchParams",
  "TransformStream",
  "WritableStream",
  "ReadableStream",
  "WebSocket",
  "AbortController",
  "AbortSignal",
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "queueMicrotask",
  "performance",
] as const;

if (!GlobalRegistrator.isRegistered) {
  const kept = Object.fromEntries(NATIVE.map((name) => [name, Reflect.get(globalThis, name)]));
  // Ten rows of a list fill it.
  GlobalRegistrator.register({ url: "http://localhost/", width: 1440, height: 700 });
  Object.assign(globalThis, kept);
}
// React measures each render for the browser's developer tools where these exist: a fifth of a component test.
Reflect.set(console, "timeStamp", undefined);
Reflect.set(globalThis, "IS_REACT_ACT_ENVIRONMENT", true);

// Testing Library looks for the document when it is loaded, so it is loaded only now; tests import it from here.
export const { act, cleanup, render, screen, waitFor, within } = await import("@testing-library/react");
export const { default: userEvent } = await import("@testing-library/user-event");
