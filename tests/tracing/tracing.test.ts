/** Traces of a whole Weir, as a collector receives them (OTLP over HTTP, JSON encoding). */
import { afterAll, expect, test } from "bun:test";
import { parseHeaders, tracesUrl } from "../../src/server/features/tracing/tracing";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir } from "../kit/weir";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code?: number };
  attributes: {
    key: string;
    value: { stringValue?: string; intValue?: number | string; doubleValue?: number; boolValue?: boolean };
  }[];
}

/** A collector that records what it receives. */
function startCollector() {
  const spans: OtlpSpan[] = [];
  const requests: { path: string; headers: Record<string, string>; body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      requests.push({ path: new URL(request.url).pathname, headers: Object.fromEntries(request.headers), body });
      const sent = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
      for (const { scopeSpans } of sent.resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
      return Response.json({});
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, spans, requests, close: () => void server.stop(true) };
}

const facts = (span: OtlpSpan): Record<string, unknown> =>
  Object.fromEntries(
    span.attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.doubleValue ?? value.boolValue ?? Number(value.intValue),
    ]),
  );

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const user = [{ role: "user", content: "planted-prompt" }];

test("a call continues its caller's trace; attempts are client spans with the GenAI names; nothing of it is sent upstream", async () => {
  const collector = startCollector();
  const weir = await startWeir({
    env: { WEIR_OTLP_ENDPOINT: `${collector.url}/`, WEIR_OTLP_HEADERS: "x-api-key=a%3Db, x-tenant=one" },
  });
  // One attempt a call.
  await weir.setOption("RetryTimes", 0);
  const good = "gpt-4o+usage:100:50";
  await weir.priceModels({ [good]: 1, "error-500": 1 });
  await weir.newChannel({ base_url: upstream.url, models: [good, "error-500"], key: "planted-channel-key" });
  const { key } = await weir.newToken();
  upstream.journal.clear();
  const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: "vendor=planted" };
  await (await weir.call(key, { model: good, messages: user, stream: true }, { headers })).text();
  await (
    await weir.call(key, { model: "error-500", messages: user }, { headers: { traceparent: "planted-nonsense" } })
  ).text();
  await (
    await weir.call(key, { model: good, messages: user }, { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } })
  ).text();
  for (const entry of upstream.journal.entries)
    expect(Object.keys(entry.headers).filter((name) => name.startsWith("trace"))).toEqual([]);
  await weir.stop();

  expect(collector.requests.map(({ path }) => path)).toEqual(collector.requests.map(() => "/v1/traces"));
  expect(collector.requests[0]?.headers).toMatchObject({
    "x-api-key": "a=b",
    "x-tenant": "one",
    "content-type": "application/json",
  });
  expect(collector.requests.map(({ body }) => body).join()).not.toContain("planted");

  // The third call's caller had set sampled to 0.
  expect(collector.spans).toHaveLength(4);
  const call = collector.spans.find((span) => span.kind === 2 && span.traceId === TRACE);
  expect(call).toMatchObject({ name: "weir chat", parentSpanId: PARENT });
  expect(facts(call as OtlpSpan)).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": good,
    "gen_ai.request.stream": true,
    "weir.end_reason": "complete",
    "weir.charged_units": 150,
    "weir.group": "default",
    "gen_ai.response.time_to_first_chunk": expect.any(Number),
  });
  const attempt = collector.spans.find((span) => span.parentSpanId === call?.spanId);
  expect(attempt).toMatchObject({ name: `chat ${good}`, kind: 3, traceId: TRACE });
  expect(facts(attempt as OtlpSpan)).toMatchObject({
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": good,
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 50,
    "http.response.status_code": 200,
  });
  expect(BigInt(attempt?.endTimeUnixNano ?? 0)).toBeGreaterThanOrEqual(BigInt(attempt?.startTimeUnixNano ?? 0));

  const failed = collector.spans.find((span) => span.kind === 2 && span.traceId !== TRACE);
  expect([failed?.status?.code, failed?.parentSpanId ?? ""]).toEqual([2, ""]);
  expect(facts(failed as OtlpSpan)).toMatchObject({ "error.type": "upstream_error", "weir.charged_units": 0 });
  const broken = collector.spans.find((span) => span.parentSpanId === failed?.spanId);
  expect(facts(broken as OtlpSpan)).toMatchObject({ "error.type": "server_error", "http.response.status_code": 500 });
  collector.close();
}, 30_000);

test("an unreachable collector affects no call, and the shutdown ends", async () => {
  const weir = await startWeir({ env: { WEIR_OTLP_ENDPOINT: "http://127.0.0.1:1" } });
  await weir.priceModels({ "gpt-4o": 1 });
  await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o"] });
  const { key } = await weir.newToken();
  expect((await weir.call(key, { model: "gpt-4o", messages: user })).status).toBe(200);
  await weir.stop();
}, 30_000);

test("nothing is sampled with a percentage of 0 and no decision of the caller", async () => {
  const collector = startCollector();
  const weir = await startWeir({ env: { WEIR_OTLP_ENDPOINT: collector.url, WEIR_OTLP_SAMPLE_PERCENT: "0" } });
  await weir.priceModels({ "gpt-4o": 1 });
  await weir.newChannel({ base_url: upstream.url, models: ["gpt-4o"] });
  const { key } = await weir.newToken();
  await (await weir.call(key, { model: "gpt-4o", messages: user })).text();
  await (
    await weir.call(key, { model: "gpt-4o", messages: user }, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
  ).text();
  await weir.stop();
  expect(collector.spans.map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
  collector.close();
}, 30_000);

test("headers and the endpoint are read as the exporter specification says", () => {
  expect(parseHeaders("")).toEqual({});
  expect(parseHeaders("a=1, b = two%20words ,c=x=y,broken,d=50%")).toEqual({
    a: "1",
    b: "two words",
    c: "x=y",
    d: "50%",
  });
  expect(["http://c:4318", "http://c:4318/", "http://c/otlp", "http://c/v1/traces"].map(tracesUrl)).toEqual([
    "http://c:4318/v1/traces",
    "http://c:4318/v1/traces",
    "http://c/otlp/v1/traces",
    "http://c/v1/traces",
  ]);
});
