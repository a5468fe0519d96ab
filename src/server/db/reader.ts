/** The main thread's side of `read-worker.ts`: a drizzle builder whose statements run on the worker. */
import { drizzle } from "drizzle-orm/sqlite-proxy";
import type { Q } from "./types";
import type { ReadAnswer, ReadRequest } from "./read-worker";

export interface Reader {
  q: Pick<Q, "select" | "selectDistinct">;
  close(): Promise<void>;
}

type Body = ReadRequest extends infer R ? (R extends { id: number } ? Omit<R, "id"> : never) : never;

/** `mapped`: bytes of the file that are read as memory. */
export async function openReader(path: string, mapped: number): Promise<Reader> {
  const worker = new Worker(new URL("./read-worker.ts", import.meta.url).href);
  const waiting = new Map<number, PromiseWithResolvers<unknown[][]>>();
  let last = 0;
  worker.onmessage = ({ data }: MessageEvent<ReadAnswer>) => {
    const call = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error !== undefined) call?.reject(new Error(data.error));
    else call?.resolve(data.rows ?? []);
  };
  worker.onerror = (event) => {
    for (const call of waiting.values()) call.reject(new Error(`database reader: ${event.message}`));
    waiting.clear();
  };
  (worker as Worker & { unref(): void }).unref(); // Bun: an open reader does not keep the process alive
  const ask = (body: Body): Promise<unknown[][]> => {
    const call = Promise.withResolvers<unknown[][]>();
    waiting.set(++last, call);
    worker.postMessage({ id: last, ...body });
    return call.promise;
  };
  await ask({ kind: "open", path, mapped });
  const q = drizzle(async (sql, params, method) => {
    const rows = await ask({ kind: "rows", sql, params });
    // drizzle-orm/sqlite-proxy wants one flat row for "get"
    return { rows: method === "get" ? (rows[0] as unknown[]) : rows };
  });
  return {
    // Same builder, other driver: only select is offered and every result is awaited.
    q: q as unknown as Reader["q"],
    close: async () => {
      await ask({ kind: "close" });
      worker.terminate();
    },
  };
}
