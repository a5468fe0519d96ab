import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { ErrorPanel } from "../../components/error-panel";
import { trpc } from "../../lib/trpc";
import { CodeBlock } from "../../ui/code-block";
import { Skeleton } from "../../ui/skeleton";
import { SwitchField } from "../../ui/switch";

/** The text of a stream's frame, in each dialect's words. */
function frameText(frame: unknown): string {
  const { choices, delta, candidates } = (frame ?? {}) as {
    choices?: { delta?: { content?: unknown } }[];
    delta?: unknown;
    candidates?: { content?: { parts?: { text?: unknown }[] } }[];
  };
  const texts: unknown[] = [
    ...(choices ?? []).map((choice) => choice.delta?.content),
    ...(candidates ?? []).flatMap(({ content }) => (content?.parts ?? []).map((part) => part.text)),
    typeof delta === "object" && delta !== null && "text" in delta ? delta.text : delta,
  ];
  return texts.filter((text) => typeof text === "string").join("");
}

/** What a stream said, its frames put together; undefined for other texts, and where it said nothing. */
export function streamText(text: string): string | undefined {
  if (!/^(?:data|event|id|retry|:)/.test(text)) return undefined;
  const frames = text.split(/\r?\n/).flatMap((line) => {
    try {
      return line.startsWith("data:") ? [JSON.parse(line.slice("data:".length)) as unknown] : [];
    } catch {
      return []; // `[DONE]`, or where what was kept ends
    }
  });
  return frames.map(frameText).join("") || undefined;
}

/** The text of a stream, JSON with line breaks; anything else as it is. */
function prettyText(text: string): string {
  const said = streamText(text);
  if (said !== undefined) return said;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The call as a command line; the key is the reader's to put in. */
export const curlOf = (origin: string, path: string, body: string): string =>
  `curl ${quoted(origin + path)} \\\n  -H "Authorization: Bearer $API_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}`;

/** What was kept of a call's request and answer, where the operator keeps it. */
export function LogContent({ requestId, path }: { requestId: string; path: string | undefined }) {
  const { t } = useLingui();
  const [raw, setRaw] = useState(false);
  const query = trpc.log.content.useQuery({ request_id: requestId }, { meta: { quiet: true } });
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return <Skeleton className="h-40" />;
  if (query.data === null)
    return <p className="text-muted">{t`没有保存这次调用的内容。可在设置中启用“记录请求与回答内容”。`}</p>;
  const { request, response } = query.data;
  const shown = raw ? (text: string) => text : prettyText;
  return (
    <div className="grid gap-3">
      <SwitchField label={t`原文`} checked={raw} onCheckedChange={setRaw} />
      {[
        { name: t`请求`, text: request },
        { name: t`回答`, text: response },
      ].map(({ name, text }) => (
        <section key={name} className="grid gap-1">
          <h3 className="font-medium">{name}</h3>
          {text ? (
            <CodeBlock label={name} code={shown(text)} copyText={text} wrap />
          ) : (
            <p className="text-muted">{t`空`}</p>
          )}
        </section>
      ))}
      {path?.startsWith("/") && request.startsWith("{") ? (
        <section className="grid gap-1">
          <h3 className="font-medium">curl</h3>
          <CodeBlock label="curl" code={curlOf(location.origin, path, request)} wrap />
        </section>
      ) : null}
      <p className="text-xs text-muted">{t`密钥与媒体数据已被遮盖。`}</p>
    </div>
  );
}
