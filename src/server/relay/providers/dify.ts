/**
 * Dify: the address by the type of the application, uploads, and whole answers built from events (docs.dify.ai, API
 * reference, read November 2026).
 */
import { readError } from "../../protocol/dialects/dify/answer";
import { appKind } from "../../protocol/dialects/dify/request-encode";
import { isObject, objects, text } from "../../protocol/dialects/shared/json";
import type { WireObject } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import { classifyStatus } from "../../protocol/upstream-failure";
import { tryParse } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { framesOf, isEvents } from "./framing";
import { ordinary } from "./ordinary";
import type { Outgoing, Provider, ProviderContext } from "./provider";
import { send } from "./provider-context";

const paths = {
  chat: "/v1/chat-messages",
  completion: "/v1/completion-messages",
  workflow: "/v1/workflows/run",
} as const;

/** Uploads one file for the user of the call, and returns the entry that names it. */
async function upload(
  file: WireObject,
  user: string,
  { channel, headers }: Outgoing,
  context: ProviderContext,
): Promise<WireObject> {
  const { type, media_type, data, name } = file;
  const form = new FormData();
  const blob = new Blob([Buffer.from(text(data), "base64")], { type: text(media_type) });
  form.set("file", blob, text(name) || `file.${text(media_type).split("/")[1] ?? "bin"}`);
  form.set("user", user);
  // The form sets its own content type, with its boundary.
  const { authorization = "" } = headers;
  const response = await context.fetch(`${channel.base_url}/v1/files/upload`, {
    method: "POST",
    headers: { authorization },
    body: form,
  });
  const answer = tryParse(Buffer.from(await response.arrayBuffer()));
  const id = isObject(answer) ? text(answer.id) : "";
  if (!response.ok || id === "")
    throw new UpstreamError(
      classifyStatus(context.redact, response.ok ? 502 : response.status, readError(answer), channel.status_mapping),
    );
  return { type, transfer_method: "local_file", upload_file_id: id };
}

/** A whole answer built from the stream: the joined text, the finished workflow run, or the error. */
async function gathered(response: Response): Promise<Response> {
  let answer = "";
  let run: WireObject | undefined;
  for await (const { data } of framesOf(response.body)) {
    const event = data === undefined ? undefined : tryParse(Buffer.from(data));
    if (!isObject(event)) continue;
    switch (event.event) {
      case "message":
      case "agent_message":
        answer += text(event.answer);
        break;
      case "message_replace":
        answer = text(event.answer);
        break;
      case "message_end":
        return Response.json({ ...event, answer });
      case "error":
        return Response.json(event);
      case "workflow_finished":
        run = event;
    }
  }
  return Response.json(run ?? {});
}

export const dify: Provider = {
  ...ordinary,
  url: ({ base_url }, operation, model) => (operation === "chat" ? base_url + paths[appKind(model)] : undefined),
  async prepare(outgoing, context) {
    const body = bodyOf(outgoing);
    const files = objects(body.files);
    if (!files.some(({ transfer_method }) => transfer_method === "inline")) return outgoing;
    const user = text(body.user);
    const sent = files.map((file) =>
      file.transfer_method === "inline" ? upload(file, user, outgoing, context) : file,
    );
    return withBody(outgoing, { ...body, files: await Promise.all(sent) });
  },
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    return isEvents(response) && !outgoing.stream ? gathered(response) : response;
  },
};
