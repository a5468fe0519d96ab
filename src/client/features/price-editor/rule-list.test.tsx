import { cleanup, render, screen } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, expect, test } from "bun:test";
import { useState } from "react";
import { parseRules, type PriceRule } from "../../../shared/price-rules";
import { conditionNames } from "../pricing/condition-names";
import { TooltipProvider } from "../../ui/tooltip";
import { type RuleDraft, ruleDrafts, ruleOf } from "./rule-draft";
import { RuleList } from "./rule-list";

// Not before the document is there.
const { fireEvent } = await import("@testing-library/react");
const { userEvent } = await import("@testing-library/user-event");

const all: PriceRule = {
  name: "all",
  when: {
    hours: [{ zone: "UTC", days: [6, 7], from: "22:00", to: "06:00", except: ["2027-01-01"] }],
    dates: [{ zone: "Asia/Shanghai", from: "2026-10-01", until: "2026-12-31" }],
    input: { over: 1000, up_to: 5000 },
    cached: false,
    service_tier: ["flex"],
    region: ["us"],
    size: ["1024x1024"],
    quality: ["hd"],
    seconds: { over: 5 },
    resolution: ["1080p"],
    member: { path: "metadata.speed", values: ["fast"] },
  },
  then: { usd: { input: 1, output: 2.5, call: 0.1 } },
  cheaper: true,
};
const others: PriceRule[] = [
  { name: "parts", when: {}, then: { input: 2, output: 1.5 } },
  { name: "factor", when: { cached: true }, then: { factor: 0.5 } },
  { name: "batch", when: { batch: true }, then: { factor: 0.4 } },
];

afterEach(cleanup);

test("rules of every kind go through the form unchanged", () => {
  const rules = [all, ...others];
  expect(parseRules(rules)).toEqual({ rules });
  expect<unknown>(ruleDrafts(rules).map(ruleOf)).toEqual(rules);
});

function Form({ first, onRules }: { first: readonly PriceRule[]; onRules: (rules: unknown[]) => void }) {
  const [rules, setRules] = useState<readonly RuleDraft[]>(() => ruleDrafts(first));
  const change = (next: readonly RuleDraft[]) => (setRules(next), onRules(next.map(ruleOf)));
  return <RuleList rules={rules} onRules={change} />;
}

/** The form of these rules; what it stands for after the last change. */
function show(first: readonly PriceRule[]): () => unknown {
  let last: unknown = first;
  i18n.loadAndActivate({ locale: "zh", messages: {} });
  render(
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <Form first={first} onRules={(rules) => (last = rules)} />
      </TooltipProvider>
    </I18nProvider>,
  );
  return () => last;
}

/** Writes into the last field of this name and leaves it. */
const write = (label: string, value: string) => {
  const field = screen.getAllByLabelText(label).at(-1) as HTMLElement;
  fireEvent.change(field, { target: { value } });
  fireEvent.blur(field);
};
const press = (name: string) => fireEvent.click(screen.getAllByLabelText(name)[0] as HTMLElement);

test("every condition has fields of its own, and what is typed into one leaves the others alone", () => {
  const rules = show([all]);
  // A batch has neither length nor cache, so that no rule has all conditions.
  expect(document.querySelectorAll("fieldset legend")).toHaveLength(Object.keys(conditionNames).length - 1);
  write("第一天", "");
  write("到", "00:00");
  write("成员（各级名称以点相连）", "mode");
  press("周一");
  press("删除条件：缓存命中");
  press("调用者可借此降低价格");
  const { cached: _, ...when } = all.when;
  const [window] = all.when.hours ?? [];
  const { cheaper: __, ...dearer } = all;
  expect(rules()).toEqual([
    {
      ...dearer,
      when: {
        ...when,
        hours: [{ ...window, to: "24:00", days: [1, 6, 7] }],
        dates: [{ zone: "Asia/Shanghai", until: "2026-12-31" }],
        member: { path: "mode", values: ["fast"] },
      },
    },
  ]);
});

test("rules are added, given a condition, read as sentences, moved and removed", async () => {
  const user = userEvent.setup();
  const rules = show([]);
  expect(screen.getByText("没有规则：按普通价格计费。")).toBeDefined();
  const add = async (condition: string) => {
    await user.click(screen.getAllByText("添加条件").at(-1) as HTMLElement);
    await user.click(await screen.findByText(condition));
  };
  fireEvent.click(screen.getByText("添加规则"));
  await add("时段");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const day = { name: "规则 1", when: { hours: [{ zone, days: [1, 2, 3, 4, 5], from: "09:00", to: "18:00" }] } };
  expect(screen.getByText(`当时间为周一至周五 09:00–18:00（${zone}）时：价格 × 2`)).toBeDefined();
  fireEvent.click(screen.getByText("添加规则"));
  await add("日期范围");
  expect(screen.getByText("这条规则还不完整")).toBeDefined();
  write("最后一天", "2026-12-31");
  write("倍数", "3");
  expect(screen.getByText(`当日期为 2026-12-31 及以前（${zone}）时：价格 × 3`)).toBeDefined();
  const offer = { name: "规则 2", when: { dates: [{ zone, until: "2026-12-31" }] }, then: { factor: 3 } };
  expect(rules()).toEqual([{ ...day, then: { factor: 2 } }, offer]);
  press("下移");
  expect(rules()).toEqual([offer, { ...day, then: { factor: 2 } }]);
  press("删除规则");
  expect(rules()).toEqual([{ ...day, then: { factor: 2 } }]);
});
