/**
 * OpenTelemetry traces over OTLP/HTTP, off unless WEIR_OTLP_ENDPOINT is set. A call is a server span that continues the
 * caller's trace; each attempt is a client span inside it, after the conventions for generative AI. Spans are made when
 * a call has ended, from what the relay keeps anyway. They contain no text of a user, and upstreams never see the
 * trace.
 */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { parseTraceParent } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { AttemptRecord } from "../../../shared/log";
import type { Usage } from "../../../shared/pricing";
import type { Env } from "../../env";
import type { Admitted, CallEnd, CallObserver } from "../../relay/call/call";
import { VERSION } from "../../version";
import { operationName, providerName } from "./names";

/** Spans that wait for their export; more are dropped. */
const QUEUE = 4096;
const BATCH = 512;
const EXPORT_EVERY_MS = 5_000;
const EXPORT_LIMIT_MS = 10_000;
/** Time to export what waits when the process ends. */
const LAST_EXPORT_MS = 3_000;

export interface Tracing {
  observer: CallObserver;
  /** Sends what waits, for at most LAST_EXPORT_MS. Never rejects. */
  stop(): Promise<void>;
}

/** `a=1,b=2` with percent-encoded values, as OTEL_EXPORTER_OTLP_HEADERS is written. */
export function parseHeaders(text: string): Record<string, string> {
  const pairs = text
    .split(",")
    .map((pair) => pair.trim())
    .filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      const value = pair.slice(at + 1).trim();
      return [pair.slice(0, at).trim(), decoded(value)];
    }),
  );
}

/** A value that is not percent-encoded stays as it is. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** The address of the traces: an endpoint without the path is a base (OTLP exporter specification). */
export const tracesUrl = (endpoint: string): string =>
  /\/v1\/traces\/?$/.test(endpoint) ? endpoint : `${endpoint.replace(/\/+$/, "")}/v1/traces`;

export function startTracing(
  env: Pick<Env, "WEIR_OTLP_ENDPOINT" | "WEIR_OTLP_HEADERS" | "WEIR_OTLP_SAMPLE_PERCENT">,
  instance: string,
): Tracing {
  const provider = createProvider(env, instance);
  const tracer = provider.getTracer("weir", VERSION);
  return {
    observer: {
      traces: true,
      attempted: () => undefined,
      refused: () => undefined,
      ended(call, end) {
        const span = startCallSpan(tracer, call, end);
        if (!span) return;
        const ended = call.asked.engine.controlPlane.now();
        const context = trace.setSpan(ROOT_CONTEXT, span);
        for (const record of attemptsOf(call, ended)) addAttemptSpan(tracer, call, record, context, ended, end);
        span.end(ended);
      },
    },
    // A collector that does not answer holds up no shutdown.
    stop: () => Promise.race([provider.shutdown().catch(() => undefined), Bun.sleep(LAST_EXPORT_MS)]),
  };
}

function createProvider(
  env: Pick<Env, "WEIR_OTLP_ENDPOINT" | "WEIR_OTLP_HEADERS" | "WEIR_OTLP_SAMPLE_PERCENT">,
  instance: string,
): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(env.WEIR_OTLP_ENDPOINT),
    headers: parseHeaders(env.WEIR_OTLP_HEADERS),
    timeoutMillis: EXPORT_LIMIT_MS,
    concurrencyLimit: 4,
  });
  return new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": "weir",
      "service.version": VERSION,
      "service.instance.id": instance,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(env.WEIR_OTLP_SAMPLE_PERCENT / 100) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE,
        maxExportBatchSize: BATCH,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_LIMIT_MS,
      }),
    ],
  });
}

/** The span of the whole call. undefined when it is not sampled. */
function startCallSpan(
  tracer: Tracer,
  { asked, progress }: Admitted,
  { attempt, end_reason, quota }: CallEnd,
): Span | undefined {
  const { operation, request, request_id, traceparent } = asked;
  const { group } = attempt?.caller ?? asked.caller;
  const { began, first_content_at } = progress;
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
  const attributes: Attributes = {
    "weir.request_id": request_id,
    "weir.group": group,
    "weir.end_reason": end_reason,
    "weir.charged_units": quota,
    "gen_ai.operation.name": operationName(operation.key),
    "gen_ai.request.model": request.model,
    "gen_ai.request.stream": request.stream,
    ...(first_content_at >= 0 && { "gen_ai.response.time_to_first_chunk": (first_content_at - began) / 1000 }),
  };
  const span = tracer.startSpan(
    `weir ${operation.key}`,
    { kind: SpanKind.SERVER, startTime: began, attributes },
    context,
  );
  if (!span.isRecording()) return undefined;
  if (end_reason !== "complete" && end_reason !== "caller_left") {
    span.setAttribute("error.type", end_reason);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  return span;
}

function addAttemptSpan(
  tracer: Tracer,
  { asked, progress }: Admitted,
  record: AttemptRecord,
  context: Context,
  ended: number,
  { attempt, usage }: CallEnd,
): void {
  const name = operationName(asked.operation.key);
  const model = attempt?.translation.upstream_model || asked.request.model;
  const served = record.failure === "";
  const attributes: Attributes = {
    "gen_ai.operation.name": name,
    "gen_ai.request.model": model,
    "weir.channel.id": record.channel,
    // A record keeps only its channel's id; of the last attempt the type is known as well.
    ...(attempt?.channel.id === record.channel && { "gen_ai.provider.name": providerName(attempt.channel.type.key) }),
    ...(record.status > 0 && { "http.response.status_code": record.status }),
    ...(served && usage && usageAttributes(usage)),
    ...(!served && { "error.type": record.failure }),
  };
  const started = progress.began + record.start_ms;
  const span = tracer.startSpan(`${name} ${model}`, { kind: SpanKind.CLIENT, startTime: started, attributes }, context);
  if (!served) span.setStatus({ code: SpanStatusCode.ERROR });
  // The answer of the attempt that served goes on until the call ends.
  span.end(served ? ended : started + record.duration_ms);
}

/** The attempts of this call. The responses of a realtime session share its connection: each counts as one attempt. */
function attemptsOf({ asked, attempts, progress }: Admitted, ended: number): readonly AttemptRecord[] {
  const last = attempts.at(-1);
  if (asked.operation.key !== "realtime" || !last || last.failure !== "") return attempts;
  return [{ ...last, start_ms: 0, duration_ms: ended - progress.began }];
}

/** Input includes cache reads and writes, as in the conventions. */
function usageAttributes(usage: Usage): Attributes {
  const written = (usage.cache_write_5m ?? 0) + (usage.cache_write_1h ?? 0);
  const input = (usage.input ?? 0) + (usage.cache_read ?? 0) + written + (usage.audio_in ?? 0) + (usage.image_in ?? 0);
  const output = (usage.output ?? 0) + (usage.reasoning ?? 0) + (usage.audio_out ?? 0) + (usage.image_out ?? 0);
  return {
    "gen_ai.usage.input_tokens": input,
    "gen_ai.usage.output_tokens": output,
    ...(usage.cache_read !== undefined && { "gen_ai.usage.cache_read.input_tokens": usage.cache_read }),
    ...(written > 0 && { "gen_ai.usage.cache_creation.input_tokens": written }),
    ...(usage.reasoning !== undefined && { "gen_ai.usage.reasoning.output_tokens": usage.reasoning }),
  };
}
