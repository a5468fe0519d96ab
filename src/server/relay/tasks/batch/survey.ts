/** Reads the input of a batch once before it is submitted, for its model and the most that it may cost. */
import { AppError, fail } from "../../../../shared/errors";
import { scanJson } from "../../../lib/request-body/json-scan";
import { inputTokenBound, repeatedMember } from "../../../lib/request-body/json-body";
import { allowsHiddenTurns } from "../../../protocol/hidden-turns";
import { isObject, type JsonObject, topLevelMembers, tryParse } from "../../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../../billing/call-billing";

/** Most lines and bytes of an input (OpenAI's guide, batch: 50,000 requests, 200 MB; read November 2026). */
const MOST_LINES = 50_000;
const MOST_BYTES = 200 << 20;
/** Longest line. */
const MOST_LINE_BYTES = 16 << 20;

/** Endpoints whose responses report usage. */
export const ENDPOINTS: ReadonlySet<string> = new Set([
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/responses",
  "/v1/embeddings",
]);

export interface Survey {
  /** The model of all lines (vendors require a single one). */
  model: string;
  lines: number;
  /** Estimated tokens of all lines, from their bytes. */
  input: number;
  /** The most output tokens of all lines, by their limits or the default. */
  output: number;
  /** A line allows server-side tool turns (protocol/hidden-turns.ts). */
  hidden_turns?: true;
}

/** The non-empty lines of a body. Throws `tooLarge` above the limits. */
export async function* linesOf(
  body: ReadableStream<Uint8Array> | null,
  tooLarge: () => Error,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let rest = Buffer.alloc(0);
  let size = 0;
  let lines = 0;
  const reader = body?.getReader();
  try {
    while (reader) {
      const { done, value } = await reader.read();
      size += value?.length ?? 0;
      if (size > MOST_BYTES) throw tooLarge();
      const text: Buffer<ArrayBuffer> = value ? Buffer.concat([rest, value]) : rest;
      let from = 0;
      for (let end = text.indexOf(10, from); end >= 0; end = text.indexOf(10, from)) {
        const line = text.subarray(from, end);
        from = end + 1;
        if (line.length === 0 || line.toString("utf8").trim() === "") continue;
        if (++lines > MOST_LINES) throw tooLarge();
        yield line;
      }
      rest = text.subarray(from);
      if (rest.length > MOST_LINE_BYTES) throw tooLarge();
      if (done) break;
    }
    if (rest.toString("utf8").trim() !== "") yield rest;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

const wrong = (line: number, what: string): never => fail("batch_line_invalid", { line, what });

/** A line as JSON, undefined when it is not a JSON object. */
function parsable(line: Buffer, number: number): unknown {
  try {
    scanJson(line);
  } catch (error) {
    fail("batch_line_invalid", { line: number, what: error instanceof AppError ? error.message : "JSON" }, error);
  }
  return tryParse(line);
}

/** What a line has twice, so that its vendor might read another request: its body, or a decisive member of it. */
function repeatedIn(line: Buffer<ArrayBuffer>, body: JsonObject): string | undefined {
  const [range, second] = [...topLevelMembers(line)].filter(({ key }) => key === "body");
  if (!range || second) return "body";
  const member = repeatedMember(line.subarray(range.start, range.end), body);
  return member === undefined ? undefined : `body.${member}`;
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : undefined;

/** The most output tokens of one line; `usual` if it sets no limit. */
function outputOf(body: JsonObject, endpoint: string, usual: number): number {
  if (endpoint === "/v1/embeddings") return 0;
  const most = count(body.max_completion_tokens) ?? count(body.max_tokens) ?? count(body.max_output_tokens) ?? usual;
  return Math.min(most, 1_000_000) * Math.min(count(body.n) ?? 1, 128);
}

/**
 * Reads the input of a batch. Throws batch_line_invalid for the first line that is not a request of this endpoint or
 * names another model than the first, batch_too_large, and invalid_request for an input without lines.
 */
export async function survey(
  body: ReadableStream<Uint8Array> | null,
  endpoint: string,
  usualOutput: number,
  check: (line: JsonObject) => void,
): Promise<Survey> {
  const found: Survey = { model: "", lines: 0, input: 0, output: 0 };
  for await (const line of linesOf(body, () =>
    fail("batch_too_large", { lines: MOST_LINES, limit: MOST_BYTES >> 20 }),
  )) {
    const number = ++found.lines;
    const request = parsable(line, number);
    if (!isObject(request)) return wrong(number, "JSON");
    if (request.method !== "POST") wrong(number, "method");
    if (request.url !== endpoint) wrong(number, "url");
    if (typeof request.custom_id !== "string" || request.custom_id === "") wrong(number, "custom_id");
    const { body: asked } = request;
    if (!isObject(asked)) return wrong(number, "body");
    if (typeof asked.model !== "string" || asked.model === "" || (found.model !== "" && asked.model !== found.model))
      wrong(number, "body.model");
    const repeated = repeatedIn(line, asked);
    if (repeated !== undefined) wrong(number, repeated);
    if (asked.stream === true) wrong(number, "body.stream");
    check(asked);
    found.model = String(asked.model);
    if (allowsHiddenTurns(asked)) found.hidden_turns = true;
    found.input += Math.ceil(inputTokenBound(line) / BYTES_PER_TOKEN);
    found.output += outputOf(asked, endpoint, usualOutput);
  }
  if (found.lines === 0) fail("invalid_request", { detail: "input_file_id" });
  return found;
}
