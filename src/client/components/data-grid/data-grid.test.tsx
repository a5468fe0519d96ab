import { act, cleanup, render, screen, within, userEvent, waitFor } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { useState } from "react";
import { setSingleKeys } from "../../lib/hotkeys";
import { TooltipProvider } from "../../ui/tooltip";
import { DataGrid } from "./data-grid";
import type { DataGridProps } from "./grid-props";
import { parseFilterText } from "./grid-filters";
import { fittingPageSize, useGridState } from "./grid-state";
import { type GridColumn, type GridQuery, timeValue } from "./types";

// Slow while other test files run.
setDefaultTimeout(30_000);

interface Thing {
  id: number;
  name: string;
}
const things: Thing[] = Array.from({ length: 10 }, (_, index) => ({ id: index + 1, name: `thing ${index + 1}` }));
const columns: GridColumn<Thing>[] = [
  { id: "name", header: "名称", cell: (row) => row.name, sortable: true },
  { id: "id", header: "ID", cell: (row) => row.id },
];
const filterKeys = ["keyword", "status"] as const;
const filters = [
  { key: "status", label: "状态", kind: "choice", options: [{ value: "3", label: "自动禁用" }] },
] as const;
const settled: GridQuery = { error: null, isPending: false, isFetching: false, refetch: () => undefined };

function List(props: Partial<DataGridProps<Thing, "keyword" | "status">>) {
  const grid = useGridState({ name: "things", filterKeys });
  return (
    <DataGrid
      grid={grid}
      label="things"
      columns={columns}
      rows={things}
      rowId={(row) => String(row.id)}
      total={63}
      query={settled}
      search={{ key: "keyword", placeholder: "search" }}
      filters={filters}
      {...props}
    />
  );
}

function show(props: Parameters<typeof List>[0] = {}) {
  return render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <List {...props} />
      </TooltipProvider>
    </I18nProvider>,
  );
}

beforeEach(() => {
  localStorage.clear();
  setSingleKeys(true);
  history.replaceState(null, "", "/things");
  i18n.loadAndActivate({ locale: "zh", messages: {} });
});
afterEach(cleanup);

test("Back takes back a page and a filter, one by one; a filter that is typed is one step", async () => {
  const user = userEvent.setup();
  const length = history.length;
  show();
  await user.click(screen.getByRole("button", { name: "下一页" }));
  expect(location.search).toBe("?p=2");
  for (const key of "abc") {
    await user.type(screen.getByRole("searchbox"), key);
    await waitFor(() => expect(location.search).toEndWith(key));
  }
  expect(location.search).toBe("?keyword=abc");
  expect(history.length - length).toBe(2);
  act(() => history.back());
  await waitFor(() => expect(location.search).toBe("?p=2"));
  act(() => history.back());
  await waitFor(() => expect(location.search).toBe(""));
});

const DEFAULTS = { status: "3" };

test("a filter by default holds while the address is silent about it; removed it stays removed, and a view may bring it back", async () => {
  const user = userEvent.setup();
  let grid: ReturnType<typeof useGridState<"keyword" | "status">> | undefined;
  function WithDefault() {
    grid = useGridState({ name: "things", filterKeys, defaults: DEFAULTS });
    return <List grid={grid} />;
  }
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <WithDefault />
      </TooltipProvider>
    </I18nProvider>,
  );
  expect(grid?.filters.status).toBe("3");
  expect(location.search).toBe("");
  await user.click(screen.getByRole("button", { name: "移除筛选：状态" }));
  expect(grid?.filters.status).toBe("");
  expect(location.search).toBe("?status=");
  expect(grid?.viewSearch).toBe("status=");
  act(() => grid?.applyView({ filters: { keyword: "a" } }));
  expect(grid?.filters).toEqual({ keyword: "a", status: "" });
  act(() => grid?.applySearch("keyword=b"));
  expect(grid?.filters).toEqual({ keyword: "b", status: "3" });
});

const focusedRow = () => document.activeElement?.getAttribute("data-row");

describe("paging", () => {
  test("says which rows these are of how many", () => {
    show();
    // spec: A-505, C-624
    expect(screen.getByText("第 1 - 10 条，共 63 条")).toBeTruthy();
  });

  test("says it in English too", async () => {
    const { messages } = await import("../../../../locales/en.po");
    i18n.loadAndActivate({ locale: "en", messages });
    history.replaceState(null, "", "/things?p=7");
    show({ rows: things.slice(0, 3) });
    // spec: A-113
    expect(screen.getByText("Items 61 - 63 of 63")).toBeTruthy();
  });

  test("leaves the total out where the rows were not counted, and knows the last page by hasMore", () => {
    show({ total: null, hasMore: false });
    expect(screen.getByText("第 1 - 10 条")).toBeTruthy();
    expect(screen.getByRole("button", { name: "下一页" })).toHaveProperty("disabled", true);
  });

  test("unless the user chose a size, a page fills the screen", () => {
    // spec: A-505
    expect([600, 700].map(fittingPageSize)).toEqual([10, 10]);
    expect([900, 1080, 1440, 2160].map(fittingPageSize)).toEqual([20, 20, 50, 50]);
  });

  test("the page lives in the address, the page size there and in local storage", async () => {
    show();
    await userEvent.click(screen.getByRole("button", { name: "下一页" }));
    expect(location.search).toBe("?p=2");
    await userEvent.click(screen.getByRole("combobox", { name: "每页条数" }));
    await userEvent.click(await screen.findByRole("option", { name: "50 条/页" }));
    expect(location.search).toBe("?size=50");
    // spec: A-421, C-625
    expect(localStorage.getItem("page-size")).toBe("50");
    cleanup();
    history.replaceState(null, "", "/things");
    show();
    // spec: A-421
    expect(screen.getByRole("combobox", { name: "每页条数" }).textContent).toContain("50");
  });

  test("a new filter goes back to the first page", async () => {
    history.replaceState(null, "", "/things?p=4&status=3");
    show();
    await userEvent.click(screen.getByRole("button", { name: "移除筛选：状态" }));
    expect(location.search).toBe("");
  });
});

describe("sorting", () => {
  test("a click sorts largest first, the next smallest first, the third not at all", async () => {
    show();
    const head = screen.getByRole("columnheader", { name: "名称" });
    await userEvent.click(within(head).getByRole("button"));
    expect(location.search).toBe("?sort=-name");
    expect(head.getAttribute("aria-sort")).toBe("descending");
    await userEvent.click(within(head).getByRole("button"));
    expect(location.search).toBe("?sort=name");
    await userEvent.click(within(head).getByRole("button"));
    expect(location.search).toBe("");
  });
});

describe("the keyboard", () => {
  test("J and K walk over the rows, Enter opens, E edits, C copies, R renews", async () => {
    const did: string[] = [];
    show({
      onOpen: (row) => did.push(`open ${row.id}`),
      onEdit: (row) => did.push(`edit ${row.id}`),
      onCopy: (row) => did.push(`copy ${row.id}`),
      query: { ...settled, refetch: () => did.push("refresh") },
    });
    await userEvent.keyboard("jjj");
    expect(focusedRow()).toBe("2");
    await userEvent.keyboard("k{Enter}ecr");
    expect(focusedRow()).toBe("1");
    expect(did).toEqual(["open 2", "edit 2", "copy 2", "refresh"]);
  });

  test("X selects the row and the bar says how many are selected", async () => {
    show({ bulkActions: () => [{ id: "off", label: "禁用", onSelect: () => undefined }] });
    await userEvent.keyboard("jxjx");
    expect(screen.getByText("已选择 2 项")).toBeTruthy();
    expect(screen.getByRole("button", { name: "禁用" })).toBeTruthy();
  });

  test("a dot opens the menu of the row", async () => {
    show({ rowActions: (row) => [{ id: "delete", label: `删除 ${row.id}`, onSelect: () => undefined }] });
    await userEvent.keyboard("jj.");
    expect(await screen.findByRole("menuitem", { name: "删除 2" })).toBeTruthy();
  });

  test("a slash goes to the search field, where letters are letters", async () => {
    const did: string[] = [];
    show({ onEdit: (row) => did.push(`edit ${row.id}`) });
    await userEvent.keyboard("j/");
    expect(document.activeElement).toBe(screen.getByRole("searchbox"));
    await userEvent.keyboard("je");
    expect(screen.getByRole("searchbox")).toHaveProperty("value", "je");
    expect(did).toEqual([]);
  });

  test("F opens the filters", async () => {
    show();
    await userEvent.keyboard("f");
    expect(await screen.findByRole("dialog", { name: "筛选" })).toBeTruthy();
  });

  test("single keys do nothing once they are switched off", async () => {
    setSingleKeys(false);
    show();
    await userEvent.keyboard("jj");
    expect(focusedRow() ?? null).toBeNull();
  });
});

describe("selection", () => {
  test("a click with Shift selects the rows between", async () => {
    show({ bulkActions: () => [] });
    const user = userEvent.setup();
    await user.click(screen.getByRole("checkbox", { name: "选择第 2 行" }));
    await user.keyboard("{Shift>}");
    await user.click(screen.getByRole("checkbox", { name: "选择第 5 行" }));
    await user.keyboard("{/Shift}");
    expect(screen.getByText("已选择 4 项")).toBeTruthy();
  });

  test("another page starts without a selection", async () => {
    show({ bulkActions: () => [] });
    await userEvent.click(screen.getByRole("checkbox", { name: "选择本页全部" }));
    expect(screen.getByText("已选择 10 项")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "下一页" }));
    expect(screen.queryByText(/已选择/)).toBeNull();
  });
});

describe("without rows", () => {
  test("an empty list says why and offers its action", () => {
    show({ rows: [], total: 0, empty: { title: "还没有渠道", action: <button>添加</button> } });
    expect(screen.getByText("还没有渠道")).toBeTruthy();
    expect(screen.getByRole("button", { name: "添加" })).toBeTruthy();
  });

  test("filters that match nothing can be cleared at once", async () => {
    history.replaceState(null, "", "/things?keyword=zzz");
    show({ rows: [], total: 0 });
    await userEvent.click(screen.getByRole("button", { name: "清除筛选" }));
    expect(location.search).toBe("");
  });

  test("a failed load shows the message and another try", async () => {
    let tries = 0;
    show({ rows: undefined, query: { ...settled, error: new Error("数据库暂时不可用"), refetch: () => (tries += 1) } });
    expect(screen.getByText("数据库暂时不可用")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "重试" }));
    expect(tries).toBe(1);
  });
});

test("columns that the user hid stay hidden after a reload", async () => {
  const first = show();
  await userEvent.click(screen.getByRole("button", { name: "列与密度" }));
  await userEvent.click(await screen.findByRole("checkbox", { name: "ID" }));
  expect(screen.queryByRole("columnheader", { name: "ID" })).toBeNull();
  first.unmount();
  show();
  expect(screen.queryByRole("columnheader", { name: "ID" })).toBeNull();
  expect(screen.getByRole("columnheader", { name: "名称" })).toBeTruthy();
});

test("pasted key:value words become filters and the rest the search text", () => {
  expect(parseFilterText("status:3 gpt-4o", filterKeys)).toEqual({ filters: { status: "3" }, rest: "gpt-4o" });
  expect(parseFilterText("https://api.example", filterKeys)).toBeNull();
});

test("in a list without boxes the first X shows them and selects its row", async () => {
  const user = userEvent.setup();
  function Starting() {
    const [on, setOn] = useState(false);
    return <List selectable={on} onStartSelecting={() => setOn(true)} />;
  }
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <Starting />
      </TooltipProvider>
    </I18nProvider>,
  );
  await user.keyboard("jjx");
  const boxes = screen.getAllByRole<HTMLInputElement>("checkbox", { name: /^选择第/ });
  expect(boxes.map((box) => box.checked).slice(0, 3)).toEqual([false, true, false]);
});

test("a view is shared by its link: filters, sorting and page size", async () => {
  const copied: string[] = [];
  const clipboard = { writeText: async (text: string) => void copied.push(text) };
  history.replaceState(null, "", "/things?status=3&sort=-id&p=2");
  show();
  Object.defineProperty(navigator, "clipboard", { value: clipboard, configurable: true });
  await userEvent.click(screen.getByRole("button", { name: "视图" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: "复制当前视图的链接" }));
  await waitFor(() => expect(copied).toHaveLength(1));
  const { pathname, searchParams } = new URL(copied[0] ?? "");
  expect([pathname, Object.fromEntries(searchParams)]).toEqual(["/things", { status: "3", sort: "-id", size: "10" }]);
});

describe("a list of more than a hundred rows", () => {
  const many: Thing[] = Array.from({ length: 300 }, (_, index) => ({ id: index + 1, name: `thing ${index + 1}` }));
  // The test's document has no layout: rows of 40 pixels in an area of 600.
  const SIZES = ["offsetHeight", "clientHeight"] as const;
  const real = SIZES.map((name) => {
    for (let of: object = HTMLElement.prototype; of; of = Object.getPrototypeOf(of)) {
      const found = Object.getOwnPropertyDescriptor(of, name);
      if (found) return { name, of, found };
    }
    throw new Error(`no ${name}`);
  });
  beforeEach(() => {
    for (const { name, of } of real)
      Object.defineProperty(of, name, {
        configurable: true,
        get(this: HTMLElement) {
          return this.tagName === "TR" ? 40 : 600;
        },
      });
  });
  afterEach(() => {
    for (const { name, of, found } of real) Object.defineProperty(of, name, found);
  });
  const drawn = () => document.querySelectorAll("[data-row]").length;

  test("draws those in sight, and each says which of all it is", async () => {
    history.replaceState(null, "", "/things?p=3&size=100");
    show({ rows: many, total: 1200 });
    await waitFor(() => expect(drawn()).toBeLessThan(50));
    const rows = screen.getAllByRole("row");
    expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("1201");
    expect(rows.slice(0, 3).map((row) => row.getAttribute("aria-rowindex"))).toEqual(["1", "202", "203"]);
    screen.getByText("thing 1");
    expect(screen.queryByText("thing 290")).toBeNull();
  });

  test("is walked through by keys past what is drawn, and the row that has the focus stays", async () => {
    const opened: number[] = [];
    show({ rows: many, onOpen: (row) => opened.push(row.id) });
    await waitFor(() => expect(drawn()).toBeLessThan(50));
    const user = userEvent.setup();
    await user.keyboard("j".repeat(50));
    expect(focusedRow()).toBe("49");
    await user.keyboard("{Enter}");
    expect(opened).toEqual([50]);
    await user.keyboard("k");
    expect(focusedRow()).toBe("48");
    screen.getByText("thing 1");
  });

  test("as short as a hundred rows it is drawn whole", () => {
    show({ rows: many.slice(0, 100) });
    expect(drawn()).toBe(100);
  });
});

describe("an export", () => {
  const all = Array.from({ length: 1100 }, (_, index) => ({ id: index + 1, name: `thing ${index + 1}` }));
  const exported: GridColumn<Thing>[] = [
    { id: "id", header: "ID", cell: (row) => row.id, exported: ({ id }) => ({ id, at: timeValue(id * 86_400) }) },
    { id: "name", header: "名称", cell: (row) => row.name, exported: ({ name }) => ({ name }) },
    { id: "secret", header: "密钥", cell: () => "sk-…", hidden: true, exported: () => ({ secret: "never" }) },
    { id: "health", header: "健康", cell: () => "…" },
  ];
  const saved: Blob[] = [];
  const names: string[] = [];
  const exportAs = async (format: string, props: Parameters<typeof List>[0]) => {
    const user = userEvent.setup();
    saved.length = names.length = 0;
    const blob = spyOn(URL, "createObjectURL").mockImplementation((content) => {
      saved.push(content as Blob);
      return "blob:test";
    });
    const click = spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      names.push(this.download);
    });
    show({ columns: exported, ...props });
    await user.click(screen.getByRole("button", { name: "导出" }));
    await user.click(await screen.findByRole("menuitem", { name: format }));
    await waitFor(() => expect(saved).toHaveLength(1));
    blob.mockRestore();
    click.mockRestore();
    return await saved[0]!.text();
  };

  test("has every row of the filter once, also one that moved to a later page meanwhile, and the columns in sight in their order", async () => {
    localStorage.setItem("grid:things", JSON.stringify({ hidden: {}, order: ["name", "id"], widths: {}, pinned: [] }));
    const asked: [number, number][] = [];
    const text = await exportAs("CSV", {
      total: 1100,
      readPage: (page, size) => {
        asked.push([page, size]);
        const moved = page - 1;
        return Promise.resolve(all.slice((page - 1) * size - moved, page * size - moved));
      },
    });
    const lines = text.split("\r\n");
    expect(lines.slice(0, 2)).toEqual(["name,id,at", "thing 1,1,1970-01-02T00:00:00.000Z"]);
    expect(lines).toHaveLength(1 + 1100 + 1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(asked).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
    ]);
    expect(names[0]).toMatch(/^weir-things-[\dT-]+\.csv$/);
    expect(new Uint8Array(await saved[0]!.arrayBuffer()).slice(0, 3)).toEqual(new Uint8Array([0xef, 0xbb, 0xbf]));
  });

  test("lets no text become a formula", async () => {
    const text = await exportAs("CSV", { readPage: () => Promise.resolve([{ id: 1, name: "=1+1" }]) });
    expect(text).toContain("'=1+1");
  });

  test("as lines of JSON keeps numbers and texts as they are", async () => {
    const text = await exportAs("JSONL", { readPage: () => Promise.resolve([{ id: 1, name: "=1+1" }]) });
    expect(text).toBe('{"id":1,"at":"1970-01-02T00:00:00.000Z","name":"=1+1"}\n');
  });
});

test("an address may ask for 500 rows; what is chosen stays 10 to 100", async () => {
  const user = userEvent.setup();
  history.replaceState(null, "", "/things?size=500");
  show({ total: 1200 });
  expect(screen.getByRole("combobox", { name: "每页条数" }).textContent).toBe("500 条/页");
  await user.click(screen.getByRole("button", { name: "第 3 页" }));
  expect(location.search).toBe("?size=500&p=3");
  cleanup();
  history.replaceState(null, "", "/things?size=501");
  show({ total: 1200 });
  expect(screen.getByRole("combobox", { name: "每页条数" }).textContent).not.toContain("50");
});

test("Back leads to where the list was scrolled to, a link to its beginning", async () => {
  const area = () => screen.getByRole("region", { name: "things" });
  show();
  area().scrollTop = 120;
  area().dispatchEvent(new Event("scroll"));
  cleanup();
  history.pushState(null, "", "/things");
  show();
  expect(area().scrollTop).toBe(0);
  cleanup();
  window.dispatchEvent(new PopStateEvent("popstate"));
  show();
  expect(area().scrollTop).toBe(120);
  history.pushState(null, "", "/things");
});
