/** The dashboard in the browser's document: what it asks, what it shows, and where it leads. */
import "../../../../tests/dom";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { DashboardQuery, DashboardView, Sums } from "../../../shared/dashboard";
import { ROLE } from "../../../shared/roles";

const { closePage, openPage, screen, waitFor } = await import("../../../../tests/kit/client-page");
const { act, fireEvent, within } = await import("@testing-library/react");
const { storeUser, clearUser } = await import("../../lib/session");
const { loadStatus } = await import("../../lib/status");
const { default: DashboardPage } = await import("./dashboard-page");

const sums = (quota: number, count = 0, error_count = 0, tokens = 0): Sums => ({ quota, count, error_count, tokens });
const HOUR = 3600;

/** Three hours; two models with a series, nothing else. */
function viewOf({ start_timestamp: start }: { start_timestamp: number }): DashboardView {
  return {
    start,
    end: start + 3 * HOUR,
    totals: sums(1_500_000, 30, 2, 9000),
    refresh_seconds: 300,
    buckets: [0, 1, 2].map((i) => ({
      start: start + i * HOUR,
      end: start + (i + 1) * HOUR,
      parts:
        i === 1 ? [sums(1_000_000, 20, 1, 5000), sums(500_000, 10, 1, 4000), sums(0)] : [sums(0), sums(0), sums(0)],
    })),
    items: [
      { key: "gpt-4o", label: "gpt-4o", owner: "", ...sums(1_000_000, 20, 1, 5000) },
      { key: "claude", label: "claude", owner: "", ...sums(500_000, 10, 1, 4000) },
    ],
  };
}

const procedures = {
  "dashboard.view": viewOf,
  "dashboard.own": viewOf,
  "dashboard.totals": () => sums(750_000, 60),
  "dashboard.ownTotals": () => sums(0),
  "dashboard.ranking": ({ group_by }: { group_by: string }) =>
    group_by === "user"
      ? [{ key: "5", label: "ann", owner: "", ...sums(1_500_000, 30) }]
      : [
          { key: "3", label: "OpenAI", owner: "", ...sums(0, 18, 2) },
          { key: "4", label: "Quiet", owner: "", ...sums(0, 12) },
        ],
  "dashboard.attention": () => ({
    channels: 6,
    auto_disabled: 2,
    low_balances: 1,
    failing_tests: 0,
    unpriced_models: ["x-1", "x-2", "x-3", "x-4"],
    withdrawals: 3,
    unlisted_proxy: "10.0.0.9",
  }),
  "user.self": () => ({ quota: 5_000_000 }),
};

const signIn = (role: number) =>
  storeUser({ id: 1, username: "me", display_name: "me", role, status: 1, group: "default" });
const chart = () => screen.findByRole("group", { name: /消耗分布/ });
const address = () => `${location.pathname}${location.search}`;

beforeEach(() => localStorage.setItem("enable_data_export", "true"));
afterEach(() => {
  closePage();
  clearUser();
});

describe("an administrator", () => {
  test("sees figures, comparison, chart, shares, users and failing channels, each leading to its part of the log", async () => {
    signIn(ROLE.admin);
    const { calls } = await openPage(<DashboardPage />, "/detail", { procedures });
    await chart();
    const asked = calls.find(({ path }) => path === "dashboard.view")?.input as DashboardQuery;
    expect(asked).toMatchObject({
      group_by: "model",
      measure: "quota",
      granularity: "hour",
      time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
    expect(asked.end_timestamp - asked.start_timestamp).toBe(86_400);

    expect((await screen.findByText("比上一时段多 100%")).closest("div")?.textContent).toContain("$3.00");
    expect(screen.getByText("比上一时段少 50%")).toBeTruthy();
    const start = asked.start_timestamp;
    const times = `start_timestamp=${start}&end_timestamp=${start + 3 * HOUR - 1}`;
    expect(screen.getByRole("link", { name: "2 次出错" }).getAttribute("href")).toBe(`/log?${times}&type=5`);
    const shares = within(screen.getByRole("list", { name: "调用占比" }));
    // spec: C-199
    expect(shares.getAllByRole("listitem").map((row) => row.textContent)).toEqual(["gpt-4o2066.7%", "claude1033.3%"]);
    expect(shares.getByRole("link", { name: "gpt-4o" }).getAttribute("href")).toBe(`/log?${times}&model_name=gpt-4o`);
    // spec: C-200
    expect((await screen.findByRole("link", { name: "ann" })).getAttribute("href")).toBe(`/log?${times}&username=ann`);
    const failing = within(await screen.findByRole("list", { name: "渠道出错" }));
    expect(failing.getAllByRole("listitem").map((row) => row.textContent)).toEqual(["OpenAI2 / 20 次10.0%"]);
    expect(failing.getByRole("link").getAttribute("href")).toBe(`/log?${times}&type=5&channel=3`);
    expect(screen.getAllByRole("link", { name: "查看渠道" })[0]?.getAttribute("href")).toBe("/channel?status=3");
  });

  test("asks again by itself, as often as the server says", async () => {
    signIn(ROLE.admin);
    const view = (input: { start_timestamp: number }) => ({ ...viewOf(input), refresh_seconds: 0.05 });
    const { calls } = await openPage(<DashboardPage />, "/detail", {
      procedures: { ...procedures, "dashboard.view": view },
    });
    await chart();
    const asked = () => calls.filter(({ path }) => path === "dashboard.view").length;
    const before = asked();
    // spec: D-23
    await waitFor(() => expect(asked()).toBeGreaterThan(before + 1));
  });

  test("can be drawn by hour, day or week", async () => {
    signIn(ROLE.admin);
    const { user } = await openPage(<DashboardPage />, "/detail", { procedures });
    await chart();
    await user.click(screen.getByRole("combobox", { name: "时间粒度" }));
    // spec: A-520
    expect((await screen.findAllByRole("option")).map(({ textContent }) => textContent)).toEqual([
      "按小时",
      "按天",
      "按周",
    ]);
  });

  test.each(["hour", "day", "week"])("begins with columns of a %s where the operator says so", async (granularity) => {
    localStorage.setItem("data_export_default_time", granularity);
    signIn(ROLE.admin);
    const { calls, user } = await openPage(<DashboardPage />, "/detail", { procedures });
    await chart();
    // spec: C-201
    expect(calls.find(({ path }) => path === "dashboard.view")?.input).toMatchObject({ granularity });
    await user.click(screen.getByRole("combobox", { name: "时间粒度" }));
    // spec: C-201
    expect((await screen.findAllByRole("option")).map((option) => option.textContent)).toEqual([
      "按小时",
      "按天",
      "按周",
    ]);
  });

  test("asks for one user by name, and the address keeps what was chosen", async () => {
    signIn(ROLE.admin);
    const { calls, user } = await openPage(
      <DashboardPage />,
      "/detail?by=channel&measure=tokens&range=7d&granularity=day",
      { procedures },
    );
    await chart();
    await user.type(screen.getByRole("searchbox", { name: "用户名" }), " ann {Enter}");
    await waitFor(() =>
      // spec: C-201
      expect(calls.findLast(({ path }) => path === "dashboard.view")?.input).toMatchObject({
        username: "ann",
        group_by: "channel",
        measure: "tokens",
        granularity: "day",
      }),
    );
    expect(new URLSearchParams(location.search).get("username")).toBe("ann");
  });
});

describe("an ordinary user", () => {
  test("a user requests their own figures alone, sees how long their balance lasts, and nothing of users and channels", async () => {
    signIn(ROLE.user);
    const { calls } = await openPage(<DashboardPage />, "/detail?by=channel&username=bob", { procedures });
    await chart();
    expect(calls.find(({ path }) => path === "dashboard.own")?.input).toMatchObject({ group_by: "model" });
    await screen.findByText(/按此速度约可用/);
    expect(new Set(calls.map(({ path }) => path))).toEqual(
      new Set(["dashboard.own", "dashboard.ownTotals", "user.self"]),
    );
    expect(JSON.stringify(calls)).not.toContain("bob");
    // spec: C-200
    for (const title of ["用户消耗排行", "渠道出错"]) expect(screen.queryByText(title)).toBeNull();
  });
});

describe("the chart", () => {
  test("is read column by column with the arrow keys, and Enter opens that column's log", async () => {
    signIn(ROLE.user);
    const { user } = await openPage(<DashboardPage />, "/detail", { procedures });
    const group = await chart();
    group.focus();
    await user.keyboard("{Home}{ArrowRight}");
    const status = within(group).getByRole("status");
    // spec: C-198
    expect(status.textContent).toContain("gpt-4o $2.00, claude $1.00");
    await user.keyboard("{ArrowRight}");
    expect(status.textContent).toContain("没有用量");
    await user.keyboard("{ArrowLeft}{Enter}");
    expect(location.pathname).toBe("/log");
    const search = new URLSearchParams(location.search);
    expect(Number(search.get("end_timestamp")) - Number(search.get("start_timestamp"))).toBe(HOUR - 1);
  });

  test("zooms to the columns chosen with Shift, and Back undoes it", async () => {
    signIn(ROLE.user);
    const { user, calls } = await openPage(<DashboardPage />, "/detail", { procedures });
    const group = await chart();
    const asked = calls.find(({ path }) => path === "dashboard.own")?.input as DashboardQuery;
    const start = asked.start_timestamp;
    group.focus();
    await user.keyboard("{Home}{Shift>}{ArrowRight}{/Shift}{Enter}");
    expect(address()).toBe(`/detail?range=custom&from=${start}&to=${start + 2 * HOUR}`);
    await waitFor(() =>
      expect(calls.findLast(({ path }) => path === "dashboard.own")?.input).toMatchObject({
        start_timestamp: start,
        end_timestamp: start + 2 * HOUR,
      }),
    );
  });

  test("a click on a part opens the log of that model in that hour", async () => {
    signIn(ROLE.user);
    const { container } = await openPage(<DashboardPage />, "/detail", { procedures });
    const group = await chart();
    group.getBoundingClientRect = () => new DOMRect(0, 0, 300, 100);
    const part = container.querySelector('rect[data-series="1"]');
    if (!part) throw new Error("nothing drawn");
    fireEvent.pointerDown(part, { button: 0, clientX: 150 });
    fireEvent.pointerUp(part, { button: 0, clientX: 150 });
    expect(location.pathname).toBe("/log");
    expect(new URLSearchParams(location.search).get("model_name")).toBe("claude");
  });

  test("shows one series alone from the legend, and has a table of the same figures", async () => {
    signIn(ROLE.user);
    const { user, container } = await openPage(<DashboardPage />, "/detail", { procedures });
    await chart();
    expect(container.querySelectorAll("rect[data-series]").length).toBe(2);
    await user.click(screen.getByRole("button", { name: "claude" }));
    expect(
      [...container.querySelectorAll<SVGRectElement>("rect[data-series]")].map((rect) => rect.dataset["series"]),
    ).toEqual(["1"]);
    await user.click(screen.getByRole("button", { name: "看表格" }));
    const table = screen.getByRole("table", { name: "消耗分布" });
    // spec: C-198
    expect(
      within(table)
        .getAllByRole("columnheader")
        .map((head) => head.textContent),
    ).toEqual(["时间", "gpt-4o", "claude", "合计"]);
    expect(within(table).getAllByRole("row")[2]?.textContent).toContain("$2.00$1.00$3.00");
  });
});

describe("what waits", () => {
  const lines = async () =>
    within(await screen.findByRole("region", { name: "需要处理" }))
      .getAllByRole("link")
      .map((link) => [link.closest("p")?.textContent, link.getAttribute("href")]);

  test("is listed with a link to the page that fixes it", async () => {
    signIn(ROLE.root);
    await openPage(<DashboardPage />, "/detail", { procedures });
    expect(await lines()).toEqual([
      ["2 个渠道被自动禁用查看渠道", "/channel?status=3"],
      ["1 个渠道的余额快用完了查看渠道", "/channel?status=1"],
      ["4 个模型未定价，无法调用：x-1, x-2, x-3设置价格", "/setting/pricing"],
      ["3 笔提现待处理去处理", "/topup?invite=settle"],
    ]);
    screen.getByText(/代理 10\.0\.0\.9 .*WEIR_TRUSTED_PROXIES/);
  }, 30_000);

  test("shows no link to prices to users who may not set them", async () => {
    signIn(ROLE.admin);
    await openPage(<DashboardPage />, "/detail", { procedures });
    expect((await lines()).map(([, to]) => to)).toEqual([
      "/channel?status=3",
      "/channel?status=1",
      "/topup?invite=settle",
    ]);
  }, 30_000);

  test("is not asked for by ordinary users", async () => {
    signIn(ROLE.user);
    const { calls } = await openPage(<DashboardPage />, "/detail", { procedures });
    await chart();
    expect(calls.some(({ path }) => path === "dashboard.attention")).toBe(false);
  }, 30_000);
});

describe("nothing to show", () => {
  const nothing = (input: { start_timestamp: number }): DashboardView => {
    const view = viewOf(input);
    return {
      ...view,
      totals: sums(0),
      items: [],
      buckets: view.buckets.map((bucket) => ({ ...bucket, parts: [sums(0)] })),
    };
  };

  test("a range without calls says so", async () => {
    signIn(ROLE.user);
    await openPage(<DashboardPage />, "/detail", { procedures: { ...procedures, "dashboard.own": nothing } });
    expect(await screen.findByText("这段时间没有调用")).toBeTruthy();
  });

  test("a range that ends before it begins is explained and not asked for", async () => {
    signIn(ROLE.user);
    const { calls } = await openPage(<DashboardPage />, "/detail?range=custom&from=2000000000&to=1000000000", {
      procedures,
    });
    expect(await screen.findByText("结束时间必须晚于开始时间")).toBeTruthy();
    expect(calls.filter(({ path }) => path.startsWith("dashboard."))).toEqual([]);
  });

  test("while it is not known whether it is switched on, the page says why, and opens when the status comes", async () => {
    localStorage.removeItem("enable_data_export");
    signIn(ROLE.user);
    const answers = [
      Response.json({ success: false, code: "too_many_requests", message: "请求过于频繁" }, { status: 429 }),
      Response.json({ success: true, message: "", data: { enable_data_export: true } }),
    ];
    const paths = { "/api/status": () => answers.shift() ?? new Response("", { status: 404 }) };
    const { user } = await openPage(<DashboardPage />, "/detail", { procedures, paths });
    await act(() => loadStatus());
    const panel = await screen.findByRole("alert");
    expect(panel.textContent).toContain("频繁");
    expect(screen.queryByText("管理员关闭了数据看板")).toBeNull();
    await user.click(within(panel).getByRole("button", { name: "重试" }));
    expect(await chart()).toBeTruthy();
  });

  test("while the operator has it switched off the page says so and asks nothing", async () => {
    localStorage.setItem("enable_data_export", "false");
    signIn(ROLE.admin);
    const { calls } = await openPage(<DashboardPage />, "/detail", { procedures });
    expect(await screen.findByText("管理员关闭了数据看板")).toBeTruthy();
    expect(calls).toEqual([]);
  });
});
