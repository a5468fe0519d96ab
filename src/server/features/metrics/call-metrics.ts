/** The metrics of calls, from the counts of the relay. */
import type { RelayStats } from "../../contracts/relay-stats";
import type { CallCounts } from "./calls";
import type { Meters } from "./meters";

const SERIES = ["group", "model", "channel_type"] as const;

export function addCallMetrics(meters: Meters, counts: CallCounts): void {
  meters.counter(
    "weir_calls_total",
    "Calls that ended, by how; a response of a realtime session is a call.",
    [...SERIES, "end_reason"],
    (add) => {
      for (const { ends, group, model, channel_type } of counts.series.values()) {
        for (const [end_reason, value] of ends) add({ group, model, channel_type, end_reason }, value);
      }
    },
  );
  meters.counter("weir_refused_total", "Calls refused before a channel was asked, by error code.", ["code"], (add) => {
    for (const [code, value] of counts.refusals) add({ code }, value);
  });
  meters.counter("weir_tokens_total", "Tokens used. input holds cached_input.", [...SERIES, "kind"], (add) => {
    for (const { group, model, channel_type, input, cached, output } of counts.series.values()) {
      add({ group, model, channel_type, kind: "input" }, input);
      add({ group, model, channel_type, kind: "cached_input" }, cached);
      add({ group, model, channel_type, kind: "output" }, output);
    }
  });
  meters.counter(
    "weir_charged_units_total",
    "Units of quota charged (option QuotaPerUnit: units of one dollar).",
    SERIES,
    (add) => {
      for (const { group, model, channel_type, units } of counts.series.values())
        add({ group, model, channel_type }, units);
    },
  );
  meters.counter(
    "weir_attempts_total",
    "Attempts at channels, by class of failure; ok: answered.",
    ["channel_type", "outcome"],
    (add) => {
      for (const [channel_type, outcomes] of counts.attempts)
        for (const [outcome, value] of outcomes) add({ channel_type, outcome }, value);
    },
  );
  meters.histogram("weir_call_duration_seconds", "From arrival to the end of the answer.", function* () {
    for (const [operation, { duration }] of counts.times) yield [operation, duration];
  });
  meters.histogram("weir_first_content_seconds", "From arrival to the first content.", function* () {
    for (const [operation, { first_content }] of counts.times) yield [operation, first_content];
  });
  meters.gauge(
    "weir_cache_share",
    "Share of input tokens that were read from the upstreams' caches, since start.",
    () => {
      let input = 0;
      let cached = 0;
      for (const series of counts.series.values()) {
        input += series.input;
        cached += series.cached;
      }
      return input === 0 ? 0 : cached / input;
    },
  );
}

/** How often a conversation's next call returned to its channel. */
export function addAffinityMetrics(meters: Meters, stats: Readonly<RelayStats>): void {
  meters.gauge(
    "weir_sticky_share",
    "Share of the calls with a choice that returned to their conversation's channel, since start.",
    () => (stats.sticky_calls === 0 ? 0 : stats.sticky_hits / stats.sticky_calls),
  );
  meters.counter(
    "weir_sticky_calls_total",
    "Calls that had a choice of channels, by whether their own was taken.",
    ["hit"],
    (add) => {
      add({ hit: "true" }, stats.sticky_hits);
      add({ hit: "false" }, stats.sticky_calls - stats.sticky_hits);
    },
  );
}
