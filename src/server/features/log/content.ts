/**
 * Requests and answers, kept only while LogContentEnabled is on: redacted, packed, beside the log in `log_bodies`, for
 * LogContentDays. Written after the call, off its path; what comes faster than it can be written is dropped.
 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { eq } from "drizzle-orm";
import type { LogContent } from "../../../shared/log-list";
import { type Services, seconds } from "../../contracts/context";
import { withoutNul } from "../../db/sql";
import type { KeepContent, Sample } from "../../contracts/content-capture";
import { redact } from "./redact";

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Contents being written at a time; each is half a megabyte at most. */
const MOST_PENDING = 64;

/** The text as it is stored: redacted, with a note when it is truncated. */
async function packSample({ text, size }: Sample): Promise<string> {
  if (text === "") return "";
  const whole = Buffer.byteLength(text) >= size;
  const kept = withoutNul(redact(text)) + (whole ? "" : `\n… [${size} bytes]`);
  return (await pack(kept)).toString("base64");
}

const textOf = async (packed: string): Promise<string> =>
  packed === "" ? "" : (await unpack(Buffer.from(packed, "base64"))).toString("utf8");

export function createContentKeeper(services: Pick<Services, "db" | "log" | "background" | "now">): KeepContent {
  const { db, log, background } = services;
  let pending = 0;
  const write = async (
    { request_id, user_id }: { request_id: string; user_id: number },
    request: Sample,
    response: Sample,
  ): Promise<void> => {
    try {
      const row = {
        request_id,
        user_id,
        created_at: seconds(services),
        request: await packSample(request),
        response: await packSample(response),
      };
      await db.q.insert(db.t.log_bodies).values(row).onConflictDoNothing();
    } finally {
      pending--;
    }
  };
  return (call, request, response) => {
    if (pending >= MOST_PENDING) {
      log.warn({ request_id: call.request_id }, "the content of a call was not kept: too many at once");
      return;
    }
    pending++;
    background.track("keeping the content of a call", write(call, request, response));
  };
}

/** null when nothing was kept of that call, or no longer. */
export async function readContent({ db }: Pick<Services, "db">, request_id: string): Promise<LogContent | null> {
  const { log_bodies } = db.t;
  const [row] = await db.q
    .select()
    .from(log_bodies)
    .where(eq(log_bodies.request_id, withoutNul(request_id)));
  return row ? { request: await textOf(row.request), response: await textOf(row.response) } : null;
}
