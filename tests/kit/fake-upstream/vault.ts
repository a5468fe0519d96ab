/**
 * Objects that callers store at an upstream: responses of the Responses API, files, batches. Each key sees only its
 * own, like an account. Shapes: platform.openai.com/docs/api-reference responses, files, batches; types of the `openai`
 * npm SDK 7.55 (Response, ResponseItemList, CompactedResponse, FileObject, Batch), read November 2026.
 */
import { type Json, list, object, text } from "./answer";
import type { Behaviour } from "./behaviours";
import type { Content } from "./dialects/operations";
import type { WireRequest } from "./wire";

export type Reply = { status: 200; type: string; body: Uint8Array } | { status: 400 | 404; message: string };

const json = (value: unknown): Reply => ({
  status: 200,
  type: "application/json",
  body: Buffer.from(JSON.stringify(value)),
});
const none = (what: string): Reply => ({ status: 404, message: `${what} not found.` });

const KEPT = /\/(responses|files|batches)(?:\/([^/]+))?(?:\/(input_items|content|cancel))?$/;

/** Whether a call is about stored objects, and not a call of a model. */
export function isKept(method: string, path: string): boolean {
  const [, what, id, verb] = KEPT.exec(path) ?? [];
  if (what === undefined) return false;
  return what === "responses" ? id !== undefined && (method !== "POST" || verb === "cancel") : true;
}

/** POST /responses/compact. */
export function compacted(body: Json, { usage }: Behaviour, id: string): Content {
  const users = list(body.input)
    .map(object)
    .filter((item) => item.role === "user");
  const output = [...users, { id: `cmp_${id}`, type: "compaction", encrypted_content: `fake-compacted-${id}` }];
  const counts = { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output };
  const answer = {
    id: `resp_${id}`,
    object: "response.compaction",
    created_at: Math.floor(Date.now() / 1000),
    output,
    usage: counts,
  };
  return { contentType: "application/json", body: Buffer.from(JSON.stringify(answer)) };
}

/** POST /responses/input_tokens. */
export const counted = ({ usage }: Behaviour): Content => ({
  contentType: "application/json",
  body: Buffer.from(JSON.stringify({ object: "response.input_tokens", input_tokens: usage.input })),
});

export interface Vault {
  has(key: string, responseId: string): boolean;
  /** Stores a response: a stream's last frame repeats it. */
  keep(key: string, answer: Content, request: Json): void;
  answer(key: string, request: WireRequest, body: Json | undefined): Promise<Reply>;
}

export function createVault(): Vault {
  const responses = new Map<string, { response: Json; input: unknown }>();
  const files = new Map<string, { file: Json; content: Uint8Array }>();
  const batches = new Map<string, Json>();
  let made = 0;
  const created_at = (): number => Math.floor(Date.now() / 1000);
  const own = <T>(all: Map<string, T>, key: string): T[] =>
    [...all].flatMap(([id, value]) => (id.startsWith(`${key} `) ? [value] : []));
  const page = (data: unknown[]): Reply => json({ object: "list", data, has_more: false });

  async function onFiles(
    key: string,
    request: WireRequest,
    id: string | undefined,
    verb: string | undefined,
  ): Promise<Reply> {
    if (id === undefined && request.method === "GET") return page(own(files, key).map(({ file }) => file));
    if (id === undefined) {
      const type = request.headers["content-type"] ?? "";
      const form = await new Response(new Uint8Array(request.body), { headers: { "content-type": type } }).formData();
      const sent = form.get("file");
      if (!(sent instanceof Blob)) return { status: 400, message: "file is missing" };
      const content = new Uint8Array(await sent.arrayBuffer());
      const file = {
        id: `file-${++made}`,
        object: "file",
        bytes: content.length,
        created_at: created_at(),
        filename: sent.name ?? "",
        purpose: form.get("purpose"),
        status: "processed",
      };
      files.set(`${key} ${file.id}`, { file, content });
      return json(file);
    }
    const found = files.get(`${key} ${id}`);
    if (!found) return none(`File ${id}`);
    if (verb === "content") return { status: 200, type: "text/html", body: found.content };
    if (request.method !== "DELETE") return json(found.file);
    files.delete(`${key} ${id}`);
    return json({ id, object: "file", deleted: true });
  }

  function onBatches(
    key: string,
    request: WireRequest,
    body: Json | undefined,
    id: string | undefined,
    verb: string | undefined,
  ): Reply {
    if (id === undefined && request.method === "GET") return page(own(batches, key));
    if (id === undefined) {
      const input = text(body?.input_file_id);
      if (!files.has(`${key} ${input}`)) return none(`File ${input}`);
      const batch = {
        id: `batch_${++made}`,
        object: "batch",
        endpoint: body?.endpoint,
        input_file_id: input,
        completion_window: body?.completion_window,
        status: "validating",
        created_at: created_at(),
        metadata: body?.metadata ?? null,
      };
      batches.set(`${key} ${batch.id}`, batch);
      return json(batch);
    }
    const found = batches.get(`${key} ${id}`);
    if (!found) return none(`Batch ${id}`);
    if (verb === "cancel") found.status = "cancelling";
    else if (found.status === "validating") {
      // The first poll finishes it.
      const output = `file-${++made}`;
      const content = Buffer.from(
        '{"custom_id":"1","response":{"status_code":200,"body":{"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}}}\n',
      );
      const file = {
        id: output,
        object: "file",
        bytes: content.length,
        created_at: created_at(),
        filename: "out.jsonl",
        purpose: "batch_output",
        status: "processed",
      };
      files.set(`${key} ${output}`, { file, content });
      Object.assign(found, { status: "completed", output_file_id: output });
    }
    return json(found);
  }

  function onResponses(key: string, request: WireRequest, id: string, verb: string | undefined): Reply {
    const found = responses.get(`${key} ${id}`);
    if (!found) return none(`Response with id '${id}'`);
    if (verb === "input_items") return page(list(found.input));
    if (verb === "cancel") return { status: 400, message: "Cannot cancel a synchronous response." };
    if (request.method === "GET" && request.search.includes("stream=true")) {
      const last = JSON.stringify({ type: "response.completed", sequence_number: 9, response: found.response });
      return {
        status: 200,
        type: "text/event-stream",
        body: Buffer.from(`event: response.completed\ndata: ${last}\n\n`),
      };
    }
    if (request.method !== "DELETE") return json(found.response);
    responses.delete(`${key} ${id}`);
    return json({ id, object: "response", deleted: true });
  }

  return {
    has: (key, id) => responses.has(`${key} ${id}`),
    keep(key, answer, request) {
      const last = "body" in answer ? Buffer.from(answer.body).toString("utf8") : (answer.frames.at(-1)?.data ?? "{}");
      const said = object(JSON.parse(last));
      const response = "body" in answer ? said : object(said.response);
      responses.set(`${key} ${text(response.id)}`, { response, input: request.input });
    },
    async answer(key, request, body) {
      const [, what, id, verb] = KEPT.exec(request.path) ?? [];
      if (what === "files") return onFiles(key, request, id, verb);
      if (what === "batches") return onBatches(key, request, body, id, verb);
      return onResponses(key, request, id ?? "", verb);
    },
  };
}
