/**
 * The page of the log: pages by key, live rows, export, cleaning, and what the inspector says of rows of every kind.
 */
import "../../../../tests/dom";
import { afterEach, beforeEach, expect, setDefaultTimeout, setSystemTime, spyOn, test } from "bun:test";
import type { LogTail, LogView } from "../../../shared/log-list";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { act, fireEvent, within } = await import("@testing-library/react");
const { default: LogPage } = await import("./log-page");
const { LogAttempts } = await import("./log-attempts");
const { LogBill } = await import("./log-bill");
const { LogCleaning, monthAgo } = await import("./log-cleaning");
const { LogContent, curlOf, streamText } = await import("./log-content");
const { LogInspector } = await import("./log-inspector");
const { formatTime } = await import("../../lib/format");
const { timesOf } = await import("./log-range");
const { joinRows } = await import("./log-tail");
const { countedOptions } = await import("./log-chart");
const { storeUser } = await import("../../lib/session");
const { firstTokenHue, durationHue, groupRatioHue } = await import("../../components/status");
const { Toasts } = await import("../../components/toasts");

// Rendering is slow while other test files run.
setDefaultTimeout(30_000);
afterEach(closePage);
beforeEach(() => storeUser({ id: 1, username: "root", role: 100, status: 1, group: "default", display_name: "" }));

const row = (id: number, fields: Partial<LogView> = {}): LogView => ({
  id,
  request_id: `r${id}`,
  created_at: 1_790_000_000 + id,
  type: 2,
  user_id: 5,
  username: "ann",
  token_id: 3,
  token_name: "t",
  channel: 7,
  channel_name: "c",
  group: "default",
  model_name: `model-${id}`,
  quota: 10,
  prompt_tokens: 1,
  completion_tokens: 2,
  use_time: 1,
  is_stream: false,
  content: "",
  code: "",
  params: "",
  refund_of: "",
  repeated: 0,
  repeated_until: 0,
  other: "",
  end_reason: "complete",
  ip: "",
  upstream_request_id: "",
  ...fields,
});
const procedures = (items: LogView[], total = items.length, total_exact = true) => ({
  "log.page": ({ p, page_size }: { p: number; page_size: number }) => ({
    items,
    page: p,
    page_size,
    total,
    total_exact,
  }),
  "log.stat": () => ({ quota: 20, rpm: 1, tpm: 3 }),
  "log.user": () => ({
    username: "ann",
    display_name: "Ann",
    group: "vip",
    quota: 500_000,
    used_quota: 1_000_000,
    request_count: 42,
  }),
});

test("with more than 10,000 rows the pager says so, and the next page begins after the last row", async () => {
  const items = Array.from({ length: 10 }, (_, i) => row(100 - i));
  const { user, calls } = await openPage(<LogPage />, "/log", { procedures: procedures(items, 10_000, false) });
  await screen.findByText("第 1 - 10 条，共 10,000+ 条");
  await user.click(screen.getByRole("button", { name: "下一页" }));
  await waitFor(() =>
    expect(calls.findLast((call) => call.path === "log.page")?.input).toMatchObject({
      p: 2,
      after: `${1_790_000_091}.91`,
    }),
  );
  expect(location.search).toContain("at=after%3A1790000091.91");
  await user.click(screen.getByRole("button", { name: "下一页" }));
  await waitFor(() => expect(location.search).toContain("p=3"));
  await user.click(screen.getByRole("button", { name: "上一页" }));
  await waitFor(() =>
    expect(calls.findLast((call) => call.path === "log.page")?.input).toMatchObject({ p: 2, before: "1790000100.100" }),
  );
});

test("the address holds every filter, and what is no place in a list is none", async () => {
  const { calls } = await openPage(
    <LogPage />,
    "/log?token_id=9&keyword=hello&channel=3&username=ann&upstream_request_id=u&at=after:x&p=2",
    { procedures: procedures([row(1)]) },
  );
  await screen.findByText("model-1");
  const input = calls.find((call) => call.path === "log.page")?.input;
  expect(input).toMatchObject({
    token_id: 9,
    keyword: "hello",
    channel: 3,
    username: "ann",
    upstream_request_id: "u",
    p: 2,
  });
  expect(input).not.toHaveProperty("after");
});

test("an unfiltered list shows today, as the address says, and a filter or a row in the address gets no time range added", async () => {
  const { calls } = await openPage(<LogPage />, "/log", { procedures: procedures([row(1)]) });
  await screen.findByText("model-1");
  const midnight = new Date();
  midnight.setHours(0, 0, 0, 0);
  const asked = calls.filter((call) => call.path === "log.page");
  expect(asked).toHaveLength(1);
  const { start_timestamp = 0, end_timestamp = 0 } = (asked[0]?.input ?? {}) as {
    start_timestamp?: number;
    end_timestamp?: number;
  };
  // spec: C-643
  expect(start_timestamp).toBe(midnight.getTime() / 1000);
  // spec: C-642
  expect(Math.abs(end_timestamp - Date.now() / 1000 - 3600)).toBeLessThan(120);
  // The address keeps the range, not its times: a link goes on with the time.
  expect(location.search).toBe("?range=today");
  expect(timesOf("today", new Date(2027, 0, 2, 0, 30))).toEqual({
    start_timestamp: String(new Date(2027, 0, 2).getTime() / 1000),
    end_timestamp: String(new Date(2027, 0, 2, 1, 30).getTime() / 1000),
  });
});

test("a range of the address follows the time when the list is read again, and a time set by hand fixes both", async () => {
  const start = new Date(2027, 0, 2, 12, 0).getTime();
  setSystemTime(start);
  try {
    const { user, calls } = await openPage(<LogPage />, "/log?range=1h", { procedures: procedures([row(1)]) });
    await screen.findByText("model-1");
    const last = () => calls.findLast(({ path }) => path === "log.page")?.input as { start_timestamp?: number };
    expect(last().start_timestamp).toBe(start / 1000 - 3600);
    setSystemTime(start + 600_000);
    await user.keyboard("r");
    await waitFor(() => expect(last().start_timestamp).toBe(start / 1000 - 3000));
    await user.click(screen.getByRole("button", { name: "7 天" }));
    await waitFor(() => expect(location.search).toBe("?range=7d"));
    expect(screen.getByRole("button", { name: "7 天", pressed: true })).toBeTruthy();
    await user.click(screen.getByRole("button", { name: /^筛选/ }));
    const end = await screen.findByLabelText("结束时间");
    fireEvent.change(end, { target: { value: "2027-01-02T11:00" } });
    await waitFor(() => expect(location.search).toContain(`end_timestamp=${start / 1000 - 3600}`));
    expect(location.search).toContain(`start_timestamp=${start / 1000 + 600 - 7 * 86_400}`);
    expect(location.search).not.toContain("range");
  } finally {
    setSystemTime();
  }
});

const chart = (errors: number) => ({
  start: 1_790_000_000,
  step: 60,
  bars: [
    { errors: 0, others: 5 },
    { errors, others: 1 },
    { errors: 0, others: 0 },
  ],
});

test("the chart of the log says what its bars hold, and its keys choose a part of the range", async () => {
  const { user } = await openPage(<LogPage />, "/log?range=1h", {
    procedures: { ...procedures([row(1)]), "log.histogram": () => chart(2) },
  });
  const bars = await screen.findByRole("group", { name: /各时段的行数/ });
  expect(bars.parentElement?.textContent).toMatch(/8 行，2 个错误/);
  bars.focus();
  await user.keyboard("{ArrowRight}{ArrowRight}");
  await waitFor(() => expect(bars.parentElement?.textContent).toMatch(/3 行，2 个错误/));
  await user.keyboard("{Shift>}{ArrowRight}{/Shift}{Enter}");
  await waitFor(() => expect(location.search).toBe("?start_timestamp=1790000060&end_timestamp=1790000179"));
});

test("user, channel and model are found by name in the filters, and the chips say their names", async () => {
  const channel = { id: 7, name: "prod-1" };
  const list = (items: object[]) => ({ items, page: 1, page_size: 20, total: items.length });
  const { user } = await openPage(<LogPage />, "/log?range=1h", {
    procedures: {
      ...procedures([row(1)]),
      "user.list": ({ keyword }: { keyword: string }) =>
        list(keyword === "car" ? [{ id: 5, username: "carol", display_name: "" }] : []),
      "channel.list": () => list([channel]),
      "channel.get": () => channel,
      "token.list": () => list([]),
      "group.models": () => ["op-model"],
    },
  });
  await user.click(screen.getByRole("button", { name: /^筛选/ }));
  await user.click(await screen.findByRole("combobox", { name: /^用户名/ }));
  await user.keyboard("car");
  await user.click(await screen.findByRole("option", { name: /carol/ }));
  await waitFor(() => expect(location.search).toContain("username=carol"));
  await user.click(screen.getByRole("combobox", { name: /^渠道 ID/ }));
  await user.click(await screen.findByRole("option", { name: /prod-1/ }));
  await waitFor(() => expect(location.search).toContain("channel=7"));
  await user.click(screen.getByRole("combobox", { name: /^模型/ }));
  await user.keyboard("gpt{Enter}");
  await waitFor(() => expect(location.search).toContain("model_name=gpt"));
  expect((await screen.findByRole("list", { name: "当前筛选" })).textContent).toContain("prod-1 #7");
});

test("errors are grouped by cause, with the way to remove it one press away", async () => {
  const failed = row(9, { type: 5, code: "model_price_missing", params: '{"model":"model-9"}' });
  const causes = {
    causes: 3,
    calls: 8,
    since: 1_790_000_000,
    complete: true,
    items: [
      { calls: 6, since: 1, row: failed },
      { calls: 2, since: 1, row: row(8, { type: 5, code: "failure.server_error", params: "{}" }) },
    ],
  };
  const { user } = await openPage(<LogPage />, "/log?type=5", {
    procedures: { ...procedures([failed]), "log.causes": () => causes },
  });
  const group = within(await screen.findByRole("region", { name: "失败的原因" }));
  expect(group.getByRole("heading").textContent).toStartWith("3 个原因，8 次调用，自 ");
  expect(group.getByText("6 次")).toBeTruthy();
  expect(group.getByRole("link", { name: "设置价格" }).getAttribute("href")).toBe("/setting/pricing?q=model-9");
  expect(group.getByRole("link", { name: "7 · c" })).toBeTruthy();
  expect(group.getByRole("link", { name: "查看渠道" }).getAttribute("href")).toBe("/channel?open=7");
  await user.click(group.getAllByRole("button", { name: "最近一次" })[0] as Element);
  await waitFor(() => expect(location.search).toContain("open=9"));
});

test("every name of a row is a link: user, channel, token, model, group", async () => {
  await openPage(<LogPage />, "/log?range=1h", { procedures: procedures([row(1)]) });
  await screen.findByText("model-1");
  const leads = [...document.querySelectorAll("tbody a")].map((link) => link.getAttribute("href"));
  expect(leads).toEqual([
    "/channel?open=7",
    "/user?edit=5",
    "/log?token_id=3",
    "/log?group=default",
    "/log?model_name=model-1",
  ]);
});

test("a press in the middle of a row opens it, also on one of its names; with a key it is the link's", async () => {
  const { user } = await openPage(<LogPage />, "/log?range=1h", { procedures: procedures([row(1)]) });
  const address = () => `${location.pathname}${location.search}`;
  const link = (await screen.findByText("model-1")).closest("a") as HTMLElement;
  await user.keyboard("{Control>}");
  link.addEventListener("click", (event) => event.preventDefault(), { once: true }); // no tab of this DOM
  await user.click(link);
  await user.keyboard("{/Control}");
  expect(address()).toBe("/log?range=1h");
  await user.click(link);
  await waitFor(() => expect(address()).toBe("/log?range=1h&open=1"));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(address()).toBe("/log?range=1h"));
  link.focus();
  await user.keyboard("{Enter}");
  expect(address()).toBe("/log?model_name=model-1");
});

test("a search that stopped early says how far it came and goes on from there", async () => {
  const page = ({ end_timestamp, page_size }: { end_timestamp?: number; page_size: number }) => ({
    items: end_timestamp === 1_790_000_000 ? [row(2)] : [],
    page: 1,
    page_size,
    total: 1,
    total_exact: true,
    ...(end_timestamp === undefined && { searched_from: 1_790_000_000 }),
  });
  const { user } = await openPage(<LogPage />, "/log?keyword=rare", {
    procedures: { ...procedures([]), "log.page": page },
  });
  await screen.findByText(/只在最近 50,000 行中查找/);
  await user.click(screen.getByRole("button", { name: "继续向前查找" }));
  await screen.findByText("model-2");
  expect(location.search).toContain("end_timestamp=1790000000");
  expect(screen.queryByText(/只在最近/)).toBeNull();
});

test("live rows appear on top, wait while the pointer is on the list, and a lost connection comes again where it ended", async () => {
  let push: (tail: LogTail) => void = () => {};
  let cut: () => void = () => {};
  const asked: string[] = [];
  const live = (request: Request) => {
    asked.push(new URL(request.url).search);
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        push = (tail) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(tail)}\n\n`));
        cut = () => controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const { user } = await openPage(<LogPage />, "/log?model_name=model", {
    procedures: procedures([row(1)]),
    paths: { "/api/log/live": live },
  });
  await screen.findByText("model-1");
  await user.click(screen.getByRole("switch", { name: "实时" }));
  await waitFor(() => expect(asked).toEqual(["?model_name=model"]));
  const table = screen.getByRole("table", { name: "使用日志" });
  // The pointer still rests on the switch.
  push({ items: [row(2)], end: 2, skipped: false });
  await screen.findByText("model-2");
  const rows = within(table)
    .getAllByRole("row")
    .slice(1)
    .map((line) => line.textContent ?? "");
  expect(rows[0]).toContain("model-2");
  fireEvent.pointerEnter(table);
  push({ items: [row(3), row(4)], end: 4, skipped: true });
  await user.click(await screen.findByRole("button", { name: "+2 新" }));
  await screen.findByText("model-4");
  expect(screen.getByText("新日志过多，部分未显示")).toBeTruthy();
  // Scrolled down, nothing moves either.
  const area = screen.getByRole("region", { name: "使用日志" });
  fireEvent.pointerLeave(area.parentElement?.parentElement ?? area);
  area.scrollTop = 100;
  fireEvent.scroll(area);
  push({ items: [row(5)], end: 5, skipped: false });
  await user.click(await screen.findByRole("button", { name: "+1 新" }));
  await screen.findByText("model-5");
  expect(area.scrollTop).toBe(0);
  cut();
  await waitFor(() => expect(asked).toEqual(["?model_name=model", "?model_name=model&since=5"]));
  await user.click(screen.getByRole("switch", { name: "实时" }));
  await waitFor(() => expect(screen.queryByText("model-4")).toBeNull());
});

test("while live rows come, the figures and the chart above them are counted again, and not without one", () => {
  const { refetchInterval } = countedOptions(5000);
  expect(refetchInterval({ state: { dataUpdatedAt: 4000 } })).toBeGreaterThan(0);
  expect(refetchInterval({ state: { dataUpdatedAt: 6000 } })).toBe(false);
});

test("Back takes back a chosen range and a part of the chart, one by one", async () => {
  const { user } = await openPage(<LogPage />, "/log?range=24h", { procedures: procedures([row(1)]) });
  await screen.findByText("model-1");
  await user.click(screen.getByRole("button", { name: "1 小时" }));
  await user.click(screen.getByRole("button", { name: "7 天" }));
  const chosen = (name: string) => screen.getByRole("button", { name }).getAttribute("aria-pressed");
  expect(chosen("7 天")).toBe("true");
  act(() => history.back());
  await waitFor(() => expect(chosen("1 小时")).toBe("true"));
  act(() => history.back());
  await waitFor(() => expect(chosen("24 小时")).toBe("true"));
});

test("rows that come twice stand once, newest first", () => {
  expect(joinRows([row(3), row(2)], [row(2), row(1)]).map(({ id }) => id)).toEqual([3, 2, 1]);
  expect(joinRows([], [])).toEqual([]);
  expect(
    joinRows(
      Array.from({ length: 300 }, (_, i) => row(i)),
      [],
    ),
  ).toHaveLength(200);
});

test("the export takes exactly the filters, and a refusal is said", async () => {
  const asked: string[] = [];
  const answers = [
    new Response("a,b\r\n", { headers: { "content-disposition": 'attachment; filename="weir-log-1.csv"' } }),
    Response.json({ success: false, message: "无权进行此操作，权限不足" }),
  ];
  const download = (request: Request) => {
    asked.push(new URL(request.url).search);
    return answers.shift() ?? new Response("", { status: 500 });
  };
  // This DOM follows a link that the browser would save.
  const saved = spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => {});
  const { user } = await openPage(
    <>
      <LogPage />
      <Toasts />
    </>,
    "/log?group=vip",
    { procedures: procedures([row(1)]), paths: { "/api/log/export": download } },
  );
  await screen.findByText("model-1");
  for (const [name, said] of [
    ["CSV", "已导出 weir-log-1.csv"],
    ["JSONL", "无权进行此操作，权限不足"],
  ] as const) {
    await user.click(screen.getByRole("button", { name: "导出" }));
    await user.click(await screen.findByRole("menuitem", { name }));
    await screen.findByText(said);
  }
  expect(asked).toEqual(["?format=csv&group=vip", "?format=jsonl&group=vip"]);
  expect(saved).toHaveBeenCalledTimes(1);
  saved.mockRestore();
});

test("an administrator sees whose row it is: name, balance, used quota and calls", async () => {
  const { user } = await openPage(<LogPage />, "/log", { procedures: procedures([row(1)]) });
  await user.click(await screen.findByRole("link", { name: "ann" }));
  const panel = await screen.findByRole("dialog", { name: "用户信息" });
  await within(panel).findByText("vip");
  // spec: C-150, C-317
  expect(within(panel).getByText("ann")).toBeTruthy();
  // spec: C-150, C-318, C-319, C-320
  for (const text of ["$1.00", "$2.00", "42"]) expect(panel.textContent).toContain(text);
});

test("every row's bill lines sum to its charge, or say what the row is", async () => {
  const bill = [
    { kind: "input", count: 3, usd: "1", ratios: {}, units: "4.5" },
    { kind: "output", count: 1, usd: "1", ratios: {}, units: "5" },
  ];
  const cases: [Partial<LogView>, string][] = [
    [{ quota: 10, other: JSON.stringify({ bill }) }, "与账单一致"],
    [{ quota: 11, other: JSON.stringify({ bill }) }, "与账单不一致"],
    [{ quota: 10, other: JSON.stringify({ bill, cache_saved: "850" }) }, "自动缓存标记为这次调用节省了 850 额度。"],
    [
      { quota: 10, other: JSON.stringify({ bill, cache_saved: "-250" }) },
      "自动缓存标记：写入缓存比普通输入多花 250 额度，之后的读取会省回来。",
    ],
    [
      {
        quota: 10,
        other: JSON.stringify({ bill, settled: { quota: 4, prompt_tokens: 200, completion_tokens: 40 } }),
      },
      "任务完成时按实际用量结算，共 4 额度（输入 200、输出 40 个 Token）；差额另有一条日志。",
    ],
    [{ quota: 0, type: 5 }, "这次调用没有收费。"],
    [{ quota: 0, type: 2 }, "这次调用没有收费。"],
    [{ quota: 0, type: 2, other: JSON.stringify({ waived: true, bill: [] }) }, "渠道的设置是：这样结束的调用不收费。"],
    [{ quota: 7, end_reason: "gateway_restart", other: "{broken" }, "按中断时已产生的用量结算"],
    [{ quota: 7, type: 1 }, "充值"],
    [{ quota: 7, type: 6 }, "退还额度"],
    [{ quota: 0, type: 3, other: "null" }, "这条日志不涉及收费。"],
    [{ quota: 7 }, "没有明细的收费"],
  ];
  for (const [fields, text] of cases) {
    await openPage(<LogBill row={row(1, fields)} />, "/log");
    expect(screen.getByText(text)).toBeTruthy();
    closePage();
  }
});

test("an attempt names the dialect in which its channel was called, where that is not the channel's own", async () => {
  const attempt = {
    channel: 1,
    channel_name: "a",
    status: 200,
    failure: "",
    message: "",
    start_ms: 0,
    duration_ms: 5,
    first_content_ms: 3,
    upstream_request_id: "",
  };
  const attempts = [attempt, { ...attempt, start_ms: 6, dialect: "openai-responses" }];
  await openPage(<LogAttempts attempts={attempts} />, "/log");
  expect(screen.getAllByText("openai-responses")).toHaveLength(1);
});

test("the bill of a video names seconds and every factor", async () => {
  const bill = [
    {
      kind: "call",
      count: 1,
      usd: "0.084",
      ratios: { seconds: "5", resolution: "1.333333", audio: "1.5", group_ratio: "1" },
      units: "419999.895",
    },
  ];
  await openPage(<LogBill row={row(1, { quota: 420_000, other: JSON.stringify({ bill }) })} />, "/log");
  for (const text of ["秒数 5 × 清晰度系数 1.333333 × 声音系数 1.5 × 分组倍率 1", "$0.084 / 秒", "与账单一致"])
    expect(screen.getByText(text)).toBeTruthy();
});

test("the colours change where the specification says (C-633 to C-638, A-521 to A-524)", () => {
  // spec: A-521, A-522, A-523, A-524
  expect([5.01, 5, 3.01, 3, 1.01, 1].map(groupRatioHue)).toEqual(["red", "orange", "orange", "blue", "blue", "green"]);
  // spec: C-633..C-635
  expect([100, 101, 299, 300].map(durationHue)).toEqual(["green", "orange", "orange", "red"]);
  // spec: C-636..C-638
  expect([2999, 3000, 9999, 10_000].map(firstTokenHue)).toEqual(["green", "orange", "orange", null]);
});

test("deleting old logs asks for a time, reports how many rows it deleted, and says why it failed (A-397, A-398, A-485, A-486)", async () => {
  const { Refusal } = await import("../../../../tests/kit/client-page");
  let refuse = true;
  const { user, calls } = await openPage(
    <>
      <LogCleaning />
      <Toasts />
    </>,
    "/log",
    {
      procedures: {
        "log.cleaning": () => null,
        "log.clean": () => {
          if (refuse) throw new Refusal("log_cleaning_running");
          return 1203;
        },
      },
    },
  );
  const field = screen.getByLabelText("清理此时间之前的日志");
  const month = monthAgo();
  // spec: A-398
  expect(Math.abs(new Date((field as HTMLInputElement).value).getTime() / 1000 - month)).toBeLessThan(120);
  // spec: A-398
  expect((Date.now() / 1000 - month) / 86_400).toBeGreaterThan(27);
  await user.clear(field);
  await user.click(screen.getByRole("button", { name: "清理日志" }));
  // spec: A-397, A-485
  expect(await screen.findByText("请选择日志记录时间")).toBeDefined();
  // spec: A-397
  expect(calls.filter((call) => call.path === "log.clean")).toEqual([]);
  await user.type(field, "2026-01-02T03:04");
  await user.click(screen.getByRole("button", { name: "清理日志" }));
  // spec: A-486
  expect(await screen.findByText("日志清理失败：日志清理已在运行中，请稍后再试")).toBeDefined();
  refuse = false;
  await user.click(screen.getByRole("button", { name: "清理日志" }));
  await screen.findByText("已清理 1,203 条日志");
  expect(calls.findLast((call) => call.path === "log.clean")?.input).toEqual({
    target_timestamp: Math.floor(new Date("2026-01-02T03:04").getTime() / 1000),
  });
});

test.each([
  [
    'data: {"choices":[{"delta":{"content":"he"}}]}\n\ndata: {"choices":[{"delta":{"content":"llo"}}]}\n\ndata: [DONE]\n\n',
    "hello",
  ],
  [
    'event: message_start\ndata: {"type":"message_start","message":{}}\n\nevent: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"hello"}}\n\n',
    "hello",
  ],
  ['event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hello"}\n\n', "hello"],
  ['data: {"candidates":[{"content":{"parts":[{"text":"hel"},{"text":"lo"}]}}]}\r\n\r\ndata: {"candi', "hello"],
  ['data: {"choices":[]}\n\n', undefined],
  ['{"choices":[]}', undefined],
  ["data: null\n\n", undefined],
])("a kept stream %p reads as what it said", (text, said) => expect(streamText(text)).toBe(said));

test("kept contents are shown readable, as they are, and as a command; without any the page says how to have them", async () => {
  const contents = [{ request: '{"model":"m","text":"it\'s"}', response: "data: {}" }, null];
  const { user } = await openPage(<LogContent requestId="r1" path="/v1/chat/completions" />, "/log", {
    procedures: { "log.content": () => contents[0] },
  });
  expect((await screen.findByLabelText("请求")).textContent).toBe('{\n  "model": "m",\n  "text": "it\'s"\n}');
  await user.click(screen.getByRole("switch", { name: "原文" }));
  expect(screen.getByLabelText("请求").textContent).toBe('{"model":"m","text":"it\'s"}');
  expect(screen.getByLabelText("curl").textContent).toContain("/v1/chat/completions");
  expect(curlOf("https://g.example", "/v1/x", "it's")).toEndWith(String.raw`-d 'it'\''s'`);
  closePage();
  await openPage(<LogContent requestId="r1" path={undefined} />, "/log", {
    procedures: { "log.content": () => contents[1] },
  });
  await screen.findByText(/没有保存这次调用的内容/);
});

test("a refusal row that counts repetitions says how many, and until when", async () => {
  const other = JSON.stringify({ request_path: "/v1/chat/completions", group: "default", end_reason: "refused" });
  const counted = { repeated: 12_345, repeated_until: 1_790_000_500 };
  const known = row(9, { type: 5, end_reason: "refused", code: "token_disabled", other, ...counted });
  await openPage(
    <LogInspector id="9" known={known} admin onClose={() => undefined} onStep={() => undefined} />,
    "/log?open=9",
    { procedures: { "log.get": () => known } },
  );
  expect((await screen.findByText(/同样的拒绝还有/)).textContent).toBe(
    `同样的拒绝还有 12,345 次，最后一次在 ${formatTime(1_790_000_500)}`,
  );
  expect(document.body.textContent).toContain("该令牌已被禁用");
});

test("an error row says its cause and code, in the reader's language whatever its caller spoke", async () => {
  const failed = row(1, {
    type: 5,
    code: "model_price_missing",
    params: JSON.stringify({ model: "model-1" }),
    content: "Model model-1 has no price; please contact the administrator",
    quota: 0,
  });
  await openPage(<LogPage />, "/log", { procedures: procedures([failed]) });
  expect(await screen.findByText("model_price_missing · 模型 model-1 的价格未设置，请联系管理员")).toBeDefined();
});

test.each([
  ["model_price_missing", { model: "model-1" }, "设置价格", "/setting/pricing?q=model-1"],
  ["model_not_found", { model: "model-1", group: "vip" }, "查看渠道", "/channel?group=vip"],
  ["model_unavailable", { model: "model-1", group: "vip" }, "查看渠道", "/channel?model=model-1&group=vip"],
  ["channels_paused", { retry_after_s: 60 }, "查看渠道", "/channel?model=model-1"],
  ["insufficient_user_quota", { balance: 1 }, "编辑用户", "/user?edit=5"],
])("the inspector of an error opens on the cause %s with the way to remove it", async (code, params, label, href) => {
  const failed = row(1, { type: 5, code, params: JSON.stringify(params), quota: 0, channel: 0 });
  await openPage(<LogInspector id="1" known={failed} admin onClose={() => {}} onStep={() => {}} />, "/log", {
    procedures: { "log.get": () => failed },
  });
  const cause = within(await screen.findByTestId("log-cause"));
  expect(cause.getByText(code)).toBeDefined();
  expect(cause.getByRole("link", { name: label }).getAttribute("href")).toBe(href);
  expect(screen.getByRole("tab", { name: "尝试" }).getAttribute("aria-selected")).toBe("true");
  // Said once: not again among the facts.
  expect(screen.queryByText("详情")).toBeNull();
});

test("an administrator gives the token of a failed call more quota where the failure says so, once, and hears what it has now", async () => {
  const failed = row(1, { type: 5, code: "insufficient_token_quota", params: '{"balance":1}', quota: 0 });
  const { user, calls } = await openPage(
    <>
      <LogInspector id="1" known={failed} admin onClose={() => {}} onStep={() => {}} />
      <Toasts />
    </>,
    "/log",
    { procedures: { "log.get": () => failed, "token.raise": () => ({ id: 3, name: "t", remain_quota: 1_500_000 }) } },
  );
  await user.click(await screen.findByRole("button", { name: "增加令牌额度" }));
  const dialog = within(await screen.findByRole("dialog", { name: "增加令牌额度" }));
  dialog.getByText("ann 的令牌 t 可以再花这些；用户的余额不变。");
  await user.dblClick(dialog.getByRole("button", { name: "增加" }));
  await screen.findByText("令牌 t 现在剩余 $3.00");
  expect(calls.filter(({ path }) => path === "token.raise").map(({ input }) => input)).toEqual([
    { id: 3, quota: 500_000 },
  ]);
});

test("an error's details open on the cause and its way out, before all facts, and on the attempts", async () => {
  const failed = { ...row(7), type: 5, quota: 0, code: "model_price_missing", params: '{"model":"model-7"}' };
  await openPage(<LogPage />, "/log?open=7", {
    procedures: { ...procedures([failed]), "log.get": () => failed },
  });
  const cause = await screen.findByTestId("log-cause");
  expect(cause.textContent).toContain("model_price_missing");
  expect(within(cause).getByRole("link", { name: "设置价格" }).getAttribute("href")).toContain("model-7");
  const first = within(screen.getByRole("dialog")).getAllByText("时间")[0];
  expect(first && cause.compareDocumentPosition(first) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  expect(screen.getByRole("tab", { name: "尝试" }).getAttribute("aria-selected")).toBe("true");
});

test("channel, token and model of a row are links, in the list and in the inspector", async () => {
  const item = row(1);
  await openPage(<LogPage />, "/log?open=1", { procedures: { ...procedures([item]), "log.get": () => item } });
  const drawer = within(await screen.findByRole("dialog"));
  for (const [name, href] of [
    ["7 · c", "/channel?open=7"],
    ["t", "/log?token_id=3"],
    ["model-1", "/log?model_name=model-1"],
  ] as const)
    expect([name, (await drawer.findByRole("link", { name })).getAttribute("href")]).toEqual([name, href]);
});

test("a row that is no call has no duration and no tokens, a refund has its sign, and less than a second is no zero", async () => {
  await openPage(<LogPage />, "/log", {
    procedures: procedures([
      row(1, { type: 1, quota: 0, use_time: 0, prompt_tokens: 0, model_name: "", content: "topped up" }),
      row(2, { type: 6, quota: 500_000, use_time: 0, model_name: "" }),
      row(3, { use_time: 0, is_stream: true }),
    ]),
  });
  await screen.findByText("model-3");
  const cell = (id: number, column: string) =>
    document.querySelectorAll("[data-row]")[id - 1]?.querySelector(`[data-column=${column}]`)?.textContent;
  expect([cell(1, "timing"), cell(1, "in"), cell(1, "cost")]).toEqual(["—", "—", "—"]);
  expect([cell(2, "timing"), cell(2, "cost")]).toEqual(["—", "+$1.000000"]);
  expect(cell(3, "timing")).toBe("不到 1 秒流");
});

test("warnings are told as sentences", async () => {
  const item = row(1, { other: JSON.stringify({ warnings: ["limited_output: 24973"] }) });
  await openPage(<LogInspector id="1" known={item} admin onClose={() => {}} onStep={() => {}} />, "/log", {
    procedures: { "log.get": () => item },
  });
  expect(await screen.findByText("剩余额度只够 24,973 个输出 Token，回答以此为上限")).toBeDefined();
});
