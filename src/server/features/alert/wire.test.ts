import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { AlertTarget, TargetType } from "../../../shared/alert-targets";
import { incidentText } from "../../../shared/incidents";
import type { AlertMessage } from "./message";
import { fit, readAnswer, requestOf } from "./wire";

const HOSTILE = '*_[x](http://e) <!here> <at user_id="all"></at> <@all> @everyone & `y`';
const NOW = Date.parse("2026-11-23T05:00:00Z");

const target = (type: TargetType, more: Partial<AlertTarget> = {}): AlertTarget => ({
  name: "t",
  type,
  on: true,
  lang: "en",
  least: "warning",
  url: "https://hook.example/x?k=1",
  to: "",
  chat: "-100",
  token: "tok",
  secret: "",
  ...more,
});
const message = (line = HOSTILE): AlertMessage => ({
  title: "[Weir] 1 alert · Warning",
  lines: [`🟠 ${line}`],
  link: "https://weir.example/channel?open=3",
  severity: "warning",
  begun: 1,
  ended: 0,
  items: [
    {
      id: 7,
      kind: "begin",
      rule: "channel-errors",
      subject: "channel:3",
      severity: "warning",
      text: line,
      link: "https://weir.example/channel?open=3",
      opened_at: NOW / 1000,
      closed_at: 0,
    },
  ],
});
const sent = (type: TargetType, more: Partial<AlertTarget> = {}, line?: string) => {
  const request = requestOf(target(type, more), message(line), NOW);
  return { ...request, json: JSON.parse(request.body) };
};

describe("wire forms", () => {
  test("a webhook is signed over time and body, and without a secret not", () => {
    const { headers, body, json } = sent("webhook", { secret: "s" });
    expect(headers["x-weir-timestamp"]).toBe(String(NOW / 1000));
    const expected = createHmac("sha256", "s")
      .update(`${NOW / 1000}.${body}`)
      .digest("hex");
    expect(headers["x-weir-signature"]).toBe(`sha256=${expected}`);
    expect(json).toMatchObject({
      type: "alert",
      severity: "warning",
      begun: 1,
      ended: 0,
      alerts: [{ id: 7, text: HOSTILE }],
    });
    expect(sent("webhook").headers["x-weir-signature"]).toBeUndefined();
  });

  test("Slack and Telegram get no markup of a channel's name", () => {
    const slack = sent("slack").json;
    expect(slack.text).toContain("*_[x](http://e) &lt;!here&gt; &lt;at");
    expect(slack).toMatchObject({ mrkdwn: false });
    const telegram = sent("telegram", { url: "" });
    expect(telegram.url).toBe("https://api.telegram.org/bottok/sendMessage");
    expect(telegram.json).toMatchObject({ chat_id: "-100", parse_mode: "HTML" });
    expect(telegram.json.text).toContain("&lt;!here&gt;");
    expect(telegram.json.text.replace(/<\/?b>/g, "")).not.toMatch(/[<>]/);
  });

  test("Discord gets every sign of its Markdown escaped, and mentions nothing", () => {
    const { json } = sent("discord");
    expect(json.allowed_mentions).toEqual({ parse: [] });
    expect(json.content).toContain("\\*\\_\\[x\\]\\(http://e\\)");
    expect(json.content).toEndWith("\n<https://weir.example/channel?open=3>");
  });

  test("Feishu is signed by key over nothing, DingTalk by its secret in the query, WeCom not at all", () => {
    const feishu = sent("feishu", { secret: "s" }).json;
    expect(feishu.timestamp).toBe(String(NOW / 1000));
    expect(feishu.sign).toBe(
      createHmac("sha256", `${NOW / 1000}\ns`)
        .update("")
        .digest("base64"),
    );
    expect(feishu.msg_type).toBe("text");
    expect(feishu.content.text).not.toContain("<");
    const dingtalk = sent("dingtalk", { secret: "SEC1", url: "https://oapi.dingtalk.com/robot/send?access_token=x" });
    const query = new URL(dingtalk.url).searchParams;
    expect([query.get("access_token"), query.get("timestamp")]).toEqual(["x", String(NOW)]);
    expect(query.get("sign")).toBe(createHmac("sha256", "SEC1").update(`${NOW}\nSEC1`).digest("base64"));
    expect(sent("wecom").json.text.content).not.toContain("<");
  });

  test("Alertmanager gets each incident with its labels and times, the end where it is over", () => {
    const { url, headers, json } = sent("alertmanager", { url: "http://am.example/" });
    expect(url).toBe("http://am.example/api/v2/alerts");
    expect(headers.authorization).toBe("Bearer tok");
    expect(json).toEqual([
      {
        labels: { alertname: "channel-errors", severity: "warning", source: "weir", subject: "channel:3" },
        annotations: { summary: HOSTILE },
        startsAt: "2026-11-23T05:00:00.000Z",
        endsAt: "2026-11-30T05:00:00.000Z",
        generatorURL: "https://weir.example/channel?open=3",
      },
    ]);
  });

  test("a text that is too long ends in … within each vendor's limit, and no character or escape is cut apart", () => {
    const long = "🟠<渠道&".repeat(5000);
    expect(sent("slack", {}, long).json.text.length).toBeLessThanOrEqual(4000);
    expect(sent("slack", {}, long).json.text).toMatch(/(?:&lt;|&amp;|[^&])…$/);
    expect(sent("telegram", {}, long).json.text.length).toBeLessThanOrEqual(4096);
    expect(sent("discord", {}, long).json.content.length).toBeLessThanOrEqual(2000);
    expect(Buffer.byteLength(sent("wecom", {}, long).json.text.content)).toBeLessThanOrEqual(2048);
    expect(Buffer.byteLength(sent("feishu", {}, long).body)).toBeLessThan(20_000);
    expect(Buffer.byteLength(sent("bark", {}, long).body)).toBeLessThan(4096);
    expect(fit("🟠🟠", 3)).toBe("🟠…");
    expect(fit("abc", 3)).toBe("abc");
  });

  test("answers that say no with status 200 are failures, and a named pause is kept", () => {
    const read = (type: TargetType, status: number, body: unknown, header: string | null = null) =>
      readAnswer(type, status, typeof body === "string" ? body : JSON.stringify(body), header);
    expect(read("slack", 200, "ok").ok).toBe(true);
    expect(read("slack", 429, "rate_limited", "30")).toMatchObject({ ok: false, retry_after: 30 });
    expect(read("telegram", 200, { ok: true }).ok).toBe(true);
    expect(read("telegram", 429, { ok: false, parameters: { retry_after: 7 } })).toMatchObject({
      ok: false,
      retry_after: 7,
    });
    expect(read("feishu", 200, { code: 19021, msg: "sign match fail" })).toMatchObject({
      ok: false,
      answer: 'HTTP 200: {"code":19021,"msg":"sign match fail"}',
    });
    expect(read("feishu", 200, { code: 0 }).ok).toBe(true);
    expect(read("dingtalk", 200, { errcode: 310000 }).ok).toBe(false);
    expect(read("wecom", 200, { errcode: 0 }).ok).toBe(true);
    expect(read("discord", 204, "").ok).toBe(true);
    expect(read("discord", 429, { retry_after: 0.3 })).toMatchObject({ ok: false, retry_after: 1 });
    expect(read("alertmanager", 200, "").ok).toBe(true);
  });
});

test("an incident is read in its reader's language, amounts as the reader sees them", () => {
  const share = {
    code: "errors_share",
    subject: "channel:3",
    params: { name: "a", percent: 35, calls: 20, errors: 7, minutes: 5 },
  };
  expect(incidentText(share, "en")).toBe("Channel “a” (#3): 35% errors, 7 of 20 calls in 5 min");
  expect(incidentText(share, "zh")).toBe("渠道「a」（#3）的错误率 35%：5 分钟内 20 次调用失败 7 次");
  const spending = {
    code: "change_up",
    subject: "user:1",
    params: { name: "li", measure: "quota", value: 500, before: 10, minutes: 60 },
  };
  expect(incidentText(spending, "en", (units) => `$${units / 100}`)).toBe(
    "User “li” (#1): spending $5 in 60 min, up from $0.1 in the time before",
  );
  expect(incidentText({ code: "later", subject: "", params: {} }, "en")).toBe("later");
  const event = {
    code: "event",
    subject: "channel:3",
    params: { text: { code: "channel_auto_enabled", params: { name: "a", id: 3 } } },
  };
  expect(incidentText(event, "en")).toContain("passed its test");
});
