import "../../../tests/dom";
import { afterEach, expect, mock, test } from "bun:test";
import type { Hotkeys } from "./hotkeys";

// After the document is there: React asks at once what its console can do.
const { cleanup, render } = await import("@testing-library/react");
const { default: userEvent } = await import("@testing-library/user-event");
const { useHotkeys } = await import("./hotkeys");
afterEach(cleanup);

function Keys({ keys }: { keys: Hotkeys }) {
  useHotkeys(keys);
  return null;
}

test("the second key of a sequence is not taken for a key of another component", async () => {
  const [goTo, copy] = [mock(), mock()];
  render(
    <>
      <Keys keys={{ c: copy }} />
      <Keys keys={{ "g c": goTo }} />
    </>,
  );
  await userEvent.keyboard("gc");
  expect([goTo.mock.calls.length, copy.mock.calls.length]).toEqual([1, 0]);
  await userEvent.keyboard("c");
  expect([goTo.mock.calls.length, copy.mock.calls.length]).toEqual([1, 1]);
});

test("a key typed into a field belongs to the field; Ctrl and a key is the page's", async () => {
  const [letter, save] = [mock(), mock()];
  const { getByRole } = render(
    <>
      <Keys keys={{ j: letter, "$mod+Enter": save }} />
      <input aria-label="field" />
    </>,
  );
  getByRole("textbox").focus();
  await userEvent.keyboard("j{Control>}{Enter}{/Control}");
  expect([letter.mock.calls.length, save.mock.calls.length]).toEqual([0, 1]);
});

test("a sign is found with Shift and without, wherever a keyboard has it", async () => {
  const help = mock();
  render(<Keys keys={{ "[Shift]+?": help }} />);
  await userEvent.keyboard("?{Shift>}?{/Shift}");
  expect(help.mock.calls.length).toBe(2);
});

test("keys of a component that has gone do nothing, and new handlers are used at once", async () => {
  const [first, second] = [mock(), mock()];
  const { rerender, unmount } = render(<Keys keys={{ j: first }} />);
  await userEvent.keyboard("j");
  rerender(<Keys keys={{ j: second }} />);
  await userEvent.keyboard("j");
  unmount();
  await userEvent.keyboard("j");
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1]);
});
