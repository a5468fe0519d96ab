/** A server that is gone is said so, and never stands another page's rows under a page's number; tabs agree. */
import "../../../tests/dom";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";

const { closePage, openPage, screen, waitFor } = await import("../../../tests/kit/client-page");
const { QueryClient, onlineManager, useQueryClient } = await import("@tanstack/react-query");
const { useEffect } = await import("react");
const { ConnectionBar } = await import("../components/connection-bar");
const { DataGrid } = await import("../components/data-grid/data-grid");
const { useGridState } = await import("../components/data-grid/grid-state");
const { followChanges } = await import("./changes");
const { nextPause, watchConnection } = await import("./connection");
const { isServerThere } = await import("./http");
const { currentStatus } = await import("./status");
const { joinTabs } = await import("./tabs");
const { trpc } = await import("./trpc");

setDefaultTimeout(30_000);
afterEach(() => {
  onlineManager.setOnline(true);
  closePage();
});

function Watched() {
  const queries = useQueryClient();
  useEffect(() => watchConnection(queries), [queries]);
  const { refetch, data } = trpc.token.list.useQuery({ page: 1 }, { retry: false, meta: { quiet: true } });
  return (
    <>
      <ConnectionBar />
      <button onClick={() => void refetch()}>refresh</button>
      <p>{data ? `total ${data.total}` : "nothing"}</p>
    </>
  );
}

test("a bar says that the server is gone and how old what is shown is; it goes by itself and what is shown is read again", async () => {
  let total = 1;
  const { user } = await openPage(<Watched />, "/", {
    procedures: { "token.list": () => ({ items: [], page: 1, page_size: 10, total }) },
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: {} }) },
  });
  await screen.findByText("total 1");
  expect(screen.queryByRole("status")).toBeNull();
  const working = globalThis.fetch;
  globalThis.fetch = Object.assign(() => Promise.reject(new TypeError("refused")), {
    preconnect: working.preconnect,
  });
  await user.click(screen.getByRole("button", { name: "refresh" }));
  expect((await screen.findByRole("status")).textContent).toMatch(/无法连接到服务器.*\d\d:\d\d:\d\d/);
  total = 2;
  globalThis.fetch = working;
  // Compared as a boolean: printing an element takes seconds.
  await waitFor(() => expect(screen.queryByRole("status") === null).toBe(true), { timeout: 15_000 });
  await screen.findByText("total 2");
});

test("an answer that was under way when the network went does not take the bar away", async () => {
  const answer = Promise.withResolvers<object>();
  await openPage(<Watched />, "/", {
    procedures: { "token.list": () => answer.promise },
    paths: { "/api/status": () => Response.json({ success: true, message: "", data: {} }) },
  });
  await screen.findByText("nothing");
  onlineManager.setOnline(false);
  await screen.findByRole("status");
  answer.resolve({ items: [], page: 1, page_size: 10, total: 1 });
  await screen.findByText("total 1");
  expect(screen.queryByRole("status") === null).toBe(false);
  onlineManager.setOnline(true);
  await waitFor(() => expect(screen.queryByRole("status") === null).toBe(true));
});

test("a proxy's page in place of the server's answer is a server that is gone, and a page of its own is not", async () => {
  const { user } = await openPage(<Watched />, "/", {
    procedures: { "token.list": () => ({ items: [], page: 1, page_size: 10, total: 1 }) },
    paths: { "/api/status": () => new Response("<h1>502 Bad Gateway</h1>", { status: 502 }) },
  });
  await screen.findByText("total 1");
  const working = globalThis.fetch;
  let status = 413;
  const proxy = () =>
    Promise.resolve(new Response("<h1>nginx</h1>", { status, headers: { "content-type": "text/html" } }));
  globalThis.fetch = Object.assign(proxy, { preconnect: working.preconnect });
  await user.click(screen.getByRole("button", { name: "refresh" }));
  await waitFor(() => expect(screen.queryByRole("status") === null).toBe(true));
  status = 502;
  await user.click(screen.getByRole("button", { name: "refresh" }));
  expect((await screen.findByRole("status")).textContent).toContain("无法连接到服务器");
  globalThis.fetch = working;
});

test.each([
  [200, true],
  [429, true],
  [502, false],
  [504, false],
] as const)("an answer with the status %d says that the server is there: %p", async (status, there) => {
  await openPage(<></>, "/", { paths: { "/api/status": () => new Response("", { status }) } });
  expect(await isServerThere()).toBe(there);
});

test("a tab that hears another ask waits for it, and comes back when the other says so, without asking itself", async () => {
  const { user } = await openPage(<Watched />, "/", {
    procedures: { "token.list": () => ({ items: [], page: 1, page_size: 10, total: 1 }) },
  });
  await screen.findByText("total 1");
  const working = globalThis.fetch;
  const asked: string[] = [];
  const away = (target: RequestInfo | URL) => {
    asked.push(String(target));
    return Promise.reject(new TypeError("refused"));
  };
  globalThis.fetch = Object.assign(away, { preconnect: working.preconnect });
  await user.click(screen.getByRole("button", { name: "refresh" }));
  await screen.findByRole("status");
  const other = new BroadcastChannel("weir-connection");
  other.postMessage("asking");
  globalThis.fetch = working;
  other.postMessage("back");
  await waitFor(() => expect(screen.queryByRole("status") === null).toBe(true));
  expect(asked.filter((path) => path.includes("/api/status"))).toEqual([]);
  other.close();
  expect([3000, 6000, 20_000, 30_000].map(nextPause)).toEqual([6000, 12_000, 30_000, 30_000]);
});

test("offline, the rows of one page never stand under the number of another", async () => {
  function List() {
    const grid = useGridState({ name: "offline-test", filterKeys: [] });
    const query = { error: null, isPending: false, isFetching: false, refetch: () => undefined };
    const moved = grid.page === 2;
    return (
      <DataGrid
        grid={grid}
        label="list"
        columns={[{ id: "name", header: "name", cell: (row: { name: string }) => row.name }]}
        query={{ ...query, isPlaceholderData: moved, isPaused: moved }}
        rows={[{ name: "row of page 1" }]}
        rowId={(row) => row.name}
        total={30}
      />
    );
  }
  const { user } = await openPage(<List />, "/");
  await screen.findByText("row of page 1");
  await user.click(screen.getByRole("button", { name: "下一页" }));
  expect((await screen.findByRole("alert")).textContent).toContain("无法连接到服务器");
  expect(screen.queryByText("row of page 1")).toBeNull();
});

test("what one tab changes, another reads again, and nothing else", async () => {
  const [here, there] = [new QueryClient(), new QueryClient()];
  const ends = [joinTabs(here), joinTabs(there)];
  for (const noun of ["channel", "log", "token"])
    await there.fetchQuery({ queryKey: [[noun, "list"], { type: "query" }], queryFn: () => noun });
  const change = (mutationKey: unknown[]) =>
    here
      .getMutationCache()
      .build(here, { mutationKey, mutationFn: () => Promise.resolve("changed") })
      .execute(undefined);
  const stale = () =>
    there
      .getQueryCache()
      .getAll()
      .filter((query) => query.state.isInvalidated)
      .map(({ queryKey }) => (queryKey as [string[]])[0][0]);
  await change([["channel", "update"]]);
  await waitFor(() => expect(stale()).toEqual(["channel", "log"]));
  const working = globalThis.fetch;
  const asked: string[] = [];
  const server = (target: RequestInfo | URL) => {
    asked.push(String(target));
    return Promise.resolve(Response.json({ success: true, data: { system_name: "Another" } }));
  };
  globalThis.fetch = Object.assign(server, { preconnect: working.preconnect });
  await change([["option", "update"]]);
  await waitFor(() => expect(stale()).toEqual(["channel", "log", "token"]));
  // What every page shows of the settings, too.
  expect(asked).toEqual(["/api/status"]);
  await waitFor(() => expect(currentStatus().system_name).toBe("Another"));
  globalThis.fetch = working;
  for (const end of ends) end();
});

test("a page reads again what the server says was changed elsewhere, all of it after a gap, and doubts a server that leaves", async () => {
  const queries = new QueryClient();
  const unwatch = watchConnection(queries);
  for (const noun of ["channel", "token"])
    await queries.fetchQuery({ queryKey: [[noun, "list"], { type: "query" }], queryFn: () => noun });
  const stale = () =>
    queries
      .getQueryCache()
      .getAll()
      .filter(({ state }) => state.isInvalidated)
      .map(({ queryKey }) => (queryKey as [string[]])[0][0]);
  const working = globalThis.fetch;
  const asked: string[] = [];
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  const say = (nouns: string[]) => stream?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ nouns })}\n\n`));
  const server = (target: RequestInfo | URL) => {
    asked.push(String(target));
    if (String(target) !== "/api/changes") return Promise.resolve(Response.json({ success: true, data: {} }));
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void (stream = controller) });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
  globalThis.fetch = Object.assign(server, { preconnect: working.preconnect });
  const end = followChanges(queries);
  await waitFor(() => expect(stream === undefined).toBe(false));
  say([]);
  say(["channel"]);
  await waitFor(() => expect(stale()).toEqual(["channel"]));
  expect(asked).toEqual(["/api/changes"]);
  const first = stream;
  first?.close();
  await waitFor(() => expect(stream === first).toBe(false), { timeout: 5000 });
  expect(asked).toContain("/api/status");
  say([]);
  await waitFor(() => expect(stale()).toEqual(["channel", "token"]));
  end();
  unwatch();
  globalThis.fetch = working;
});
