/** /metrics of a whole Weir, as Prometheus would read it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());

/**
 * Lines of the text format: series -> value. Throws for an invalid line
 * (prometheus.io/docs/instrumenting/exposition_formats).
 */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("# HELP ") || line.startsWith("# TYPE ")) continue;
    const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+)$/.exec(line);
    if (!match?.[1] || !Number.isFinite(Number(match[2]))) throw new Error(`no sample: ${line}`);
    if (values.has(match[1])) throw new Error(`twice: ${line}`);
    values.set(match[1], Number(match[2]));
  }
  return values;
}

interface Panel {
  targets: { expr: string }[];
}

for (const engine of ENGINES) {
  let weir: Weir;
  beforeAll(async () => {
    weir = await startWeir({ engine, env: { WEIR_METRICS_TOKEN: "scrape" } });
    // One attempt a call.
    await weir.setOption("RetryTimes", 0);
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  test(`${engine}: calls, tokens, units, attempts, times and gauges; no text and no key of a user`, async () => {
    const model = "gpt-4o+usage:100:50";
    const failing = "error-500";
    await weir.priceModels({ [model]: 1, [failing]: 1 });
    await weir.newChannel({ base_url: upstream.url, models: [model, failing], key: "planted-channel-key" });
    const { key } = await weir.newToken();
    const body = (name: string, stream = false) => ({
      model: name,
      stream,
      messages: [{ role: "user", content: "planted-prompt" }],
    });
    await (await weir.call(key, body(model))).text();
    await (await weir.call(key, body(model, true))).text();
    await (await weir.call(key, body(failing))).text();
    await (await weir.call(key, body("planted-unknown-model"))).text();
    await (await weir.call("sk-planted-wrong-key", body(model))).text();
    await weir.waitForLog((row) => row.model_name === failing, 15_000);

    const response = await fetch(`${weir.url}/metrics`, { headers: { authorization: "Bearer scrape" } });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
    ]);
    const text = await response.text();
    expect(text).not.toContain("planted");
    const values = parse(text);
    const labels = `group="default",model="${model}",channel_type="openai"`;
    expect(values.get(`weir_calls_total{${labels},end_reason="complete"}`)).toBe(2);
    expect(
      values.get(
        `weir_calls_total{group="default",model="${failing}",channel_type="openai",end_reason="upstream_error"}`,
      ),
    ).toBe(1);
    expect(values.get(`weir_tokens_total{${labels},kind="input"}`)).toBe(200);
    expect(values.get(`weir_tokens_total{${labels},kind="output"}`)).toBe(100);
    expect(values.get(`weir_charged_units_total{${labels}}`)).toBe(300);
    expect(values.get('weir_attempts_total{channel_type="openai",outcome="ok"}')).toBe(2);
    expect(values.get('weir_attempts_total{channel_type="openai",outcome="server_error"}')).toBe(1);
    expect(values.get('weir_refused_total{code="model_not_found"}')).toBe(1);
    expect(values.get('weir_refused_total{code="token_invalid"}')).toBe(1);
    expect(values.get('weir_call_duration_seconds_count{operation="chat"}')).toBe(3);
    expect(values.get('weir_call_duration_seconds_bucket{operation="chat",le="+Inf"}')).toBe(3);
    expect(values.get('weir_first_content_seconds_count{operation="chat"}')).toBe(2);
    for (const name of [
      "weir_open_calls",
      "weir_open_streams",
      "weir_realtime_sessions",
      "weir_holds",
      "weir_held_units",
      "weir_ledger_queue",
      "weir_late_settles_total",
    ]) {
      expect([name, values.get(name)]).toEqual([name, 0]);
    }
    for (const name of [
      "weir_event_loop_lag_seconds",
      "weir_cache_share",
      "weir_sticky_share",
      "process_resident_memory_bytes",
    ])
      expect(values.has(name)).toBe(true);
    expect(values.get("weir_database_up")).toBe(1);
  }, 30_000);

  test(`${engine}: every series and label of the Grafana dashboard is exported`, async () => {
    const answer = await fetch(`${weir.url}/metrics`, { headers: { authorization: "Bearer scrape" } });
    const text = await answer.text();
    const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", kind = ""]) => [name, kind]));
    const labels = new Set([...text.matchAll(/[{,]([a-z_]+)="/g)].map(([, name]) => name));
    const { panels } = (await Bun.file("docs/grafana/weir.json").json()) as { panels: Panel[] };
    expect(panels.length).toBeGreaterThan(10);
    // Prometheus adds `instance`; a label of a series without a sample yet is not on the page.
    const later = ["instance", "platform", "event", "level"];
    for (const { expr } of panels.flatMap(({ targets }) => targets)) {
      for (const [, name = "", part] of expr.matchAll(/\b((?:weir|process)_\w+?)(_bucket)?(?=\{)/g))
        expect([expr, part === undefined ? kinds.has(name) : kinds.get(name) === "histogram"]).toEqual([expr, true]);
      const named = [...expr.matchAll(/([a-z_]+)=~?"/g), ...expr.matchAll(/by \(([a-z_, ]+)\)/g)];
      for (const name of named.flatMap(([, names = ""]) => names.split(", ")))
        expect([expr, name, labels.has(name) || later.includes(name)]).toEqual([expr, name, true]);
    }
  });

  test(`${engine}: the page is closed without a token and for the wrong method`, async () => {
    for (const headers of [{}, { authorization: "Bearer wrong" }] as Record<string, string>[]) {
      const response = await fetch(`${weir.url}/metrics`, { headers });
      expect([response.status, await response.text()]).toEqual([403, "Forbidden\n"]);
    }
    expect((await fetch(`${weir.url}/metrics`, { method: "POST" })).status).toBe(404);
  });
}
