/** The requests: two sizes of body, three kinds of response. */

export const SIZES = { "1 KB": 1024, "57 KB": 57 * 1024 } as const;
export type Size = keyof typeof SIZES;

/** Responses of the fake upstream; a stream has 50 content events. */
export const KINDS = {
  plain: { model: "words:50", stream: false },
  burst: { model: "burst:50", stream: true },
  paced: { model: "paced:50:4", stream: true },
} as const;
export type Kind = keyof typeof KINDS;

/** Three frames in the time of the memory test's samples, so that streams stay open and quiet. */
export const SLOW_MODEL = "paced:120:1000";
/** Ten frames a second for ten seconds: streams whose gaps are measured while the console sends queries. */
export const PACED_MODEL = "paced:100:100";
export const MODELS: readonly string[] = [...Object.values(KINDS).map((kind) => kind.model), SLOW_MODEL, PACED_MODEL];

/** A chat request of exactly `size` bytes. */
export function requestBody(size: number, model: string, stream: boolean): string {
  const body = (content: string) =>
    JSON.stringify({
      model,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
      messages: [
        { role: "system", content: "You are a helpful assistant." },
        { role: "user", content },
      ],
    });
  const filler = "The quick brown fox jumps over the lazy dog. ";
  const room = size - body("").length;
  return body(filler.repeat(Math.ceil(room / filler.length)).slice(0, room));
}

export interface Scenario {
  size: Size;
  kind: Kind;
  concurrency: number;
}

const all = (sizes: Size[], kinds: Kind[], levels: number[]): Scenario[] =>
  sizes.flatMap((size) => kinds.flatMap((kind) => levels.map((concurrency) => ({ size, kind, concurrency }))));

export const FULL = all(["1 KB", "57 KB"], ["plain", "burst", "paced"], [1, 32, 64]);
export const QUICK = [
  ...all(["1 KB"], ["plain", "burst"], [1, 64]),
  ...all(["57 KB"], ["plain"], [64]),
  ...all(["1 KB"], ["paced"], [1]),
];

export const nameOf = ({ size, kind, concurrency }: Scenario): string => `${size} ${kind} c=${concurrency}`;
