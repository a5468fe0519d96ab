/** The baseline: an Elysia route that reads the body once and returns the upstream's body. `bun bare.ts <upstream>` */
import { Elysia } from "elysia";

const upstream = process.argv[2] ?? "";
const app = new Elysia({
  handler: { standardHostname: false },
  serve: { reusePort: false, idleTimeout: 0 },
});

async function pass(request: Request, path: string): Promise<Response> {
  const body = await request.arrayBuffer();
  const answer = await fetch(upstream + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: request.headers.get("authorization") ?? "",
      "accept-encoding": "identity",
    },
    body,
    signal: request.signal,
  });
  return new Response(answer.body, {
    status: answer.status,
    headers: { "content-type": answer.headers.get("content-type") ?? "" },
  });
}

app.post("/v1/chat/completions", ({ request }) => pass(request, "/v1/chat/completions"), { parse: "none" });
// The other dialects' paths; Gemini's contains the model and the method.
app.post("/*", ({ request }) => pass(request, request.url.slice(request.url.indexOf("/", 8))), { parse: "none" });
app.listen({ port: 0, hostname: "127.0.0.1" });
console.log(`listening http://127.0.0.1:${app.server?.port}`);
