import { cleanup, render } from "../../../tests/dom";
import { afterEach, expect, test } from "bun:test";
import type { ComponentType } from "react";

const { closePage, openPage, screen } = await import("../../../tests/kit/client-page");
const { ErrorBoundary } = await import("../components/error-boundary");
const { lazy, WhileLoading } = await import("./lazy");

afterEach(() => {
  closePage();
  cleanup();
});

type Module = { default: ComponentType<{ name: string }> };
const Greeting = ({ name }: { name: string }) => <p>hello {name}</p>;

test("a placeholder is shown while a component is fetched; then the component is rendered with its props", async () => {
  const { promise, resolve } = Promise.withResolvers<Module>();
  const Part = lazy(() => promise);
  render(
    <WhileLoading show={<i>wait</i>}>
      <Part name="Ann" />
    </WhileLoading>,
  );
  expect(document.body.textContent).toBe("wait");
  resolve({ default: Greeting });
  await screen.findByText("hello Ann");
  expect(screen.queryByText("wait")).toBeNull();
});

test("nothing is fetched before it is shown, and nothing twice", async () => {
  let fetched = 0;
  const Part = lazy(async (): Promise<Module> => {
    fetched++;
    return { default: Greeting };
  });
  expect(fetched).toBe(0);
  render(
    <>
      <Part name="Ann" />
      <Part name="Ben" />
    </>,
  );
  await screen.findByText("hello Ann");
  await screen.findByText("hello Ben");
  expect(fetched).toBe(1);
});

test("what was fetched ahead is there in the first picture, without a placeholder", async () => {
  const loaded = Promise.resolve<Module>({ default: Greeting });
  const Part = lazy(() => loaded);
  Part.preload();
  await loaded;
  await Promise.resolve();
  render(
    <WhileLoading show={<i>wait</i>}>
      <Part name="Ann" />
    </WhileLoading>,
  );
  expect(document.body.textContent).toBe("hello Ann");
});

test.each([
  ["has another build", () => new Response("{}"), "控制台已更新，重新加载页面后继续", "重新加载"],
  ["is away", () => Promise.reject(new TypeError("no server")), "无法连接到服务器", "重试"],
])("a part that cannot be fetched from a server that %s says so, and the way on", async (_, answer, text, way) => {
  const Part = lazy(() => Promise.reject<Module>(new TypeError("Failed to fetch dynamically imported module: a.js")));
  await openPage(
    <ErrorBoundary>
      <Part name="Ann" />
    </ErrorBoundary>,
    "/",
    { paths: { "/api/status": answer } },
  );
  expect((await screen.findByRole("alert")).textContent).toContain(text);
  expect(screen.getByRole("button", { name: way })).toBeDefined();
});

test("a fetch that failed is fetched again when the part is mounted again", async () => {
  let fetched = 0;
  const Part = lazy(async (): Promise<Module> => {
    if (++fetched === 1) throw new Error("offline");
    return { default: Greeting };
  });
  Part.preload();
  await Promise.resolve();
  render(<Part name="Ann" />);
  await screen.findByText("hello Ann");
  expect(fetched).toBe(2);
});
