/**
 * Speed of translation, each part by its name: `bun run bench translated translator gaps growth [--quick] [--only
 * anthropic]`.
 *
 * translated: each pair of dialects beside the bare pass-through. translator: no I/O. gaps: 512 streams of 20 events a
 * second. growth: memory over the length of translated streams.
 */
import { dialectKeys } from "../../src/server/protocol/chat-events";
import {
  ANSWERS,
  callIn,
  type ChannelDialect,
  channelDialects,
  CHANNELS,
  EVENT_MS,
  LONG_EVENT_MS,
  mappingOf,
  modelOf,
} from "./calls";
import type { GapsResult, GapsSpec } from "./gaps";
import type { LoadResult } from "./load";
import { childResult, holdStreams, load, median, type Pace, type StreamMemory } from "./measure";
import { mb, ratio, table, times } from "./report";
import { type Size, SIZES } from "./scenarios";
import { type MeasuredProcess, type MeasuredWeir, startBare, startMeasuredWeir, startUpstream } from "./targets";
import { measureTranslator, PIECES } from "./translator";

export const PARTS = ["translated", "translator", "gaps", "growth"] as const;
export type Part = (typeof PARTS)[number];

export interface Plan {
  parts: readonly Part[];
  quick: boolean;
  /** Only pairs whose name contains this. */
  only: string | undefined;
  command: readonly string[] | undefined;
  say(text: string): void;
}

const STREAMS = 512;
const FIRST_WARMUP_MS = 2000;
/** CPU of a translated plain call, as a multiple of the bare one's. */
const CPU_TARGET = 4;
const EVENT_TARGET_US = 2;
const GAP_TARGET_MS = { p99: 2, p999: 25 } as const;
const verdict = (met: boolean): string => (met ? "met" : "**missed**");

/** The page with the measured sections in place of those with the same heading; the others stay. */
export function withSections(page: string, measured: string): string {
  const [head = "", ...before] = page.split(/^(?=## )/m);
  const fresh = measured.split(/^(?=## )/m);
  const headingOf = (section: string): string => section.slice(0, section.indexOf("\n"));
  const kept = before.map((section) => fresh.find((one) => headingOf(one) === headingOf(section)) ?? section);
  const added = fresh.filter((one) => !before.some((section) => headingOf(section) === headingOf(one)));
  return head + [...kept, ...added].map((section) => `${section.trimEnd()}\n`).join("\n");
}

/** Runs parts one after the other; returns their tables as Markdown. */
export async function benchTranslation(plan: Plan): Promise<string> {
  const pages: string[] = [];
  if (plan.parts.includes("translator")) pages.push(translatorPage(plan));
  const served = plan.parts.filter((part) => part !== "translator");
  if (served.length === 0) return pages.join("\n");
  const running: MeasuredProcess[] = [];
  try {
    const upstream = await startUpstream();
    running.push(upstream);
    const bare = await startBare(upstream.url);
    running.push(bare);
    const weir = await startTranslating(upstream.url, plan);
    running.push(weir);
    // Memory first: a process that has served load keeps pages it no longer needs.
    if (served.includes("growth")) pages.push(await growthPage(plan, weir));
    if (served.includes("gaps")) pages.push(await gapsPage(plan, bare, weir));
    if (served.includes("translated")) pages.push(await pairsPage(plan, bare, weir));
  } finally {
    for (const target of running.reverse()) await target.stop();
  }
  return pages.join("\n");
}

async function startTranslating(upstream: string, { command }: Plan): Promise<MeasuredWeir> {
  const weir = await startMeasuredWeir("sqlite", upstream, command);
  const mappings = channelDialects.map((dialect) => ({ dialect, mapping: mappingOf(dialect) }));
  for (const { dialect, mapping } of mappings) {
    await weir.weir.newChannel({
      type: CHANNELS[dialect],
      base_url: upstream,
      models: Object.keys(mapping),
      model_mapping: JSON.stringify(mapping),
    });
  }
  await weir.weir.priceModels(
    Object.fromEntries(mappings.flatMap(({ mapping }) => Object.keys(mapping).map((model) => [model, 0.05]))),
  );
  return weir;
}

function translatorPage({ quick, say, only = "" }: Plan): string {
  say("the translator alone");
  const rows = measureTranslator(quick ? 100 : 400, (from, to) => `${to} on ${from}`.includes(only));
  const cells = rows.map(({ from, to, cost }) => [
    `${to} on ${from}`,
    ...PIECES.map((piece) =>
      cost[piece] ? `${cost[piece].together.toFixed(2)} (${cost[piece].single.toFixed(2)})` : "whole",
    ),
  ]);
  const worst = Math.max(...rows.flatMap(({ cost }) => PIECES.map((piece) => cost[piece]?.together ?? 0)));
  return `## The translator alone

Microseconds of processor time an event, caller's dialect on the channel's; in brackets one event a write. Target: under ${EVENT_TARGET_US}; the dearest ${worst.toFixed(2)}: ${verdict(worst < EVENT_TARGET_US)}.

${table(["Caller on channel", ...PIECES], cells)}
`;
}

async function pairsPage({ quick, only = "", say }: Plan, bare: MeasuredProcess, weir: MeasuredWeir): Promise<string> {
  const pace: Pace = quick
    ? { rounds: 1, durationMs: 700, warmupMs: 1000 }
    : { rounds: 3, durationMs: 1500, warmupMs: 300 };
  // A pair's code is compiled in its first seconds.
  const measured = async (
    target: MeasuredProcess,
    round: number,
    { path, body }: { path: string; body: string },
  ): Promise<LoadResult> =>
    load({
      url: target.url + path,
      key: target.key,
      pid: target.pid,
      body,
      concurrency: 32,
      durationMs: pace.durationMs,
      warmupMs: round === 0 ? Math.max(FIRST_WARMUP_MS, pace.warmupMs) : pace.warmupMs,
    });
  const rows: string[][] = [];
  let worst = 0;
  for (const size of Object.keys(SIZES) as Size[]) {
    for (const kind of ["plain", "burst"] as const) {
      const { model, stream } = ANSWERS[kind];
      const bares: LoadResult[] = [];
      const costs: { pair: string; weirs: LoadResult[] }[] = [];
      for (const [caller, channel] of pairs(only)) {
        say(`${caller} on ${channel}, ${size} ${kind}`);
        const weirs: LoadResult[] = [];
        for (let round = 0; round < pace.rounds; round++) {
          bares.push(await measured(bare, round, callIn("openai-chat", model, stream, SIZES[size])));
          weirs.push(await measured(weir, round, callIn(caller, modelOf(channel, kind), stream, SIZES[size])));
        }
        costs.push({ pair: `${caller} on ${channel}`, weirs });
      }
      // All rounds of the bare one, between those of every pair: it is the same for each, and three rounds of it vary
      // more than Weir's.
      const base = median(bares.map(({ cpu_us }) => cpu_us));
      for (const { pair, weirs } of costs) {
        const cost = median(weirs.map(({ cpu_us }) => cpu_us));
        const share = ratio(cost, base);
        if (kind === "plain") worst = Math.max(worst, share);
        const failed = weirs.reduce((sum, round) => sum + round.failed, 0);
        rows.push([
          pair,
          `${size} ${kind}`,
          base.toFixed(1),
          cost.toFixed(1),
          times(share),
          median(weirs.map(({ p50 }) => p50)).toFixed(2),
          String(failed),
        ]);
      }
    }
  }
  return `## Translated calls

CPU per call beside the bare pass-through's of a chat completion of the same size; 32 at once. Target for plain calls: at most ${times(CPU_TARGET)}; the dearest ${times(worst)}: ${verdict(worst <= CPU_TARGET)}.

${table(["Caller on channel", "Call", "bare us", "Weir us", "ratio", "p50 ms", "failed"], rows)}
`;
}

function pairs(only: string): (readonly [(typeof dialectKeys)[number], ChannelDialect])[] {
  return dialectKeys
    .flatMap((caller) =>
      channelDialects.filter((channel) => channel !== caller).map((channel) => [caller, channel] as const),
    )
    .filter(([caller, channel]) => `${caller} on ${channel}`.includes(only));
}

/**
 * Two that pass through and four that are translated are enough: gaps come from the event loop and the garbage
 * collector, not from the pair.
 */
const STEADY_CALLS = [
  ["openai-chat", "openai-chat"],
  ["anthropic", "openai-chat"],
  ["openai-responses", "openai-chat"],
  ["anthropic", "anthropic"],
  ["openai-chat", "anthropic"],
  ["openai-chat", "gemini"],
] as const;

async function gapsPage({ quick, only = "", say }: Plan, bare: MeasuredProcess, weir: MeasuredWeir): Promise<string> {
  const asked = async (target: MeasuredProcess, { path, body }: { path: string; body: string }): Promise<GapsResult> =>
    childResult<GapsResult>("gaps.ts", {
      url: target.url + path,
      key: target.key,
      body,
      count: STREAMS,
      eventMs: EVENT_MS,
      durationMs: quick ? 2000 : 15_000,
    } satisfies GapsSpec);
  const rows: string[][] = [];
  const bases = new Map<ChannelDialect, GapsResult>();
  const millis = ({ p50, p99, p999 }: GapsResult): string[] => [p50, p99, p999].map((ms) => ms.toFixed(2));
  for (const [caller, channel] of STEADY_CALLS.filter(([caller, channel]) =>
    `${caller} on ${channel}`.includes(only),
  )) {
    let base = bases.get(channel);
    if (!base) {
      say(`gaps of ${STREAMS} streams: ${bare.name}, ${channel}`);
      base = await asked(bare, callIn(channel, ANSWERS.steady.model, true, SIZES["1 KB"]));
      bases.set(channel, base);
      rows.push([`bare pass-through, ${channel}`, String(base.open), ...millis(base), ""]);
    }
    say(`gaps of ${STREAMS} streams: ${caller} on ${channel}`);
    const result = await asked(weir, callIn(caller, modelOf(channel, "steady"), true, SIZES["1 KB"]));
    const added = { p99: result.p99 - base.p99, p999: result.p999 - base.p999 };
    const met = added.p99 < GAP_TARGET_MS.p99 && added.p999 < GAP_TARGET_MS.p999;
    rows.push([
      `${caller} on ${channel}`,
      String(result.open),
      ...millis(result),
      `${added.p99.toFixed(2)} / ${added.p999.toFixed(2)} ${verdict(met)}`,
    ]);
  }
  return `## Gaps in ${STREAMS} streams of ${1000 / EVENT_MS} events a second

Milliseconds that an event comes later after the one before it than the upstream sends it. Target for what Weir adds: p99 under ${GAP_TARGET_MS.p99} ms, p99.9 under ${GAP_TARGET_MS.p999} ms.

${table(["", "streams", "p50", "p99", "p99.9", "added p99 / p99.9"], rows)}
`;
}

const LONG_STREAMS = 16;
/**
 * Anthropic's frames are rewritten; the Responses API repeats the answer at its end, so its streams keep it (the
 * exception).
 */
const LONG_CALLS = [
  ["openai-chat", "anthropic"],
  ["anthropic", "gemini"],
  ["gemini", "openai-chat"],
  ["openai-responses", "anthropic"],
] as const;

async function growthPage({ quick, only = "", say }: Plan, weir: MeasuredWeir): Promise<string> {
  const seconds = quick ? [1, 2] : [10, 30, 60];
  const rows: string[][] = [];
  for (const [caller, channel] of LONG_CALLS.filter(([caller, channel]) => `${caller} on ${channel}`.includes(only))) {
    say(`memory of long streams: ${caller} on ${channel}`);
    const { path, body } = callIn(caller, modelOf(channel, "long"), true, SIZES["1 KB"]);
    const held = await holdStreams(weir, { url: weir.url + path, key: weir.key, body, count: LONG_STREAMS }, seconds);
    rows.push([
      `${caller} on ${channel}`,
      String(held.open),
      ...held.samples.map(({ memory }) => mb(memory.rss)),
      grown(held),
    ]);
  }
  return `## Memory over the length of a stream

${LONG_STREAMS} streams of ${1000 / LONG_EVENT_MS} events a second. Target: flat, but for what a dialect must repeat at its end (Responses).

${table(["Caller on channel", "streams", ...seconds.map((s) => `${s} s`), "KB a stream, first to last"], rows)}
`;
}

const grown = ({ open, samples }: StreamMemory): string =>
  open === 0 ? "" : (((samples.at(-1)?.memory.rss ?? 0) - (samples[0]?.memory.rss ?? 0)) / open / 1024).toFixed(1);
