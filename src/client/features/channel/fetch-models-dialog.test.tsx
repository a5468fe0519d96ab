import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { TooltipProvider } from "../../ui/tooltip";
import { compareModels, FetchModelsDialog } from "./fetch-models-dialog";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function open(chosen: string[], upstream: string[], unpriced: string[] = []) {
  const applied: string[][] = [];
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <FetchModelsDialog
          chosen={chosen}
          upstream={upstream}
          unpriced={unpriced}
          onApply={(models) => applied.push(models)}
          onClose={() => undefined}
        />
      </TooltipProvider>
    </I18nProvider>,
  );
  return applied;
}

test("the upstream's list is parted into new, chosen and gone", () => {
  expect(compareModels(["a", "old"], ["b", "a", "b"])).toEqual({ added: ["b"], kept: ["a"], gone: ["old"] });
});

test("nothing changes unless it is ticked: what was chosen stays, also when the upstream no longer has it", async () => {
  const applied = open(["a", "old"], ["a", "b"]);
  await userEvent.click(screen.getByRole("button", { name: "应用" }));
  expect(applied).toEqual([["a", "old"]]);
});

test("a filter and select-all take just what is shown", async () => {
  const applied = open(["a"], ["a", "gpt-1", "gpt-2", "claude-1"]);
  await userEvent.type(screen.getByRole("searchbox", { name: "筛选模型" }), "GPT");
  await userEvent.click(screen.getByRole("checkbox", { name: "全选（2）" }));
  await userEvent.click(screen.getByRole("button", { name: "应用" }));
  expect(applied).toEqual([["a", "gpt-1", "gpt-2"]]);
});

test("models that the upstream no longer has can be dropped", async () => {
  const applied = open(["a", "old"], ["a"]);
  await userEvent.click(screen.getByRole("button", { name: "上游已无 1" }));
  await userEvent.click(screen.getByRole("checkbox", { name: "old" }));
  await userEvent.click(screen.getByRole("button", { name: "应用" }));
  expect(applied).toEqual([["a"]]);
});

test("a model without a price is marked beside its name", () => {
  open(["a"], ["a", "b", "c"], ["c"]);
  expect(screen.getAllByText("未定价")).toHaveLength(1);
  expect(screen.getByText("未定价").closest("li")?.textContent).toContain("c");
});
