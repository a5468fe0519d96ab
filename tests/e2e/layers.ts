/** The layers of the console that pages do not show by themselves: drawers, dialogs, menus, and how each is opened. */
import type { Page } from "playwright-core";
import type { Language } from "../kit/browser";
import { settled } from "../kit/browser-wait";
import { consoleText } from "../kit/texts";

export interface Layer {
  /** `{charge}`, `{error}` and `{user}` stand for ids. */
  path: string;
  /** Keys as Playwright names them. */
  keys?: string;
  /** Not on a phone. */
  wide?: true;
  /** It opens within the page, not above it. */
  inline?: true;
  /** Chinese texts of what is pressed, one after the other: buttons that can be, boxes, tabs, items of menus. */
  presses?: readonly string[];
}

/** Ids of the rows that some of them are about. */
export interface LayerRows {
  /** A charged call of another user. */
  charge: number;
  /** A failed call. */
  error: number;
  user: number;
}

export const LAYERS: readonly Layer[] = [
  { path: "/token", keys: "Control+k" },
  { path: "/log", keys: "?" },
  { path: "/audit", presses: ["告警：{count} 条未看"] },
  { path: "/task", presses: ["用户菜单：{0}"] },
  { path: "/log?open={charge}", presses: ["退款"] },
  { path: "/log?open={charge}", presses: ["尝试"] },
  { path: "/log?open={charge}", presses: ["内容"] },
  { path: "/log?open={error}" },
  { path: "/log", presses: ["筛选"] },
  { path: "/log", presses: ["列与密度"], wide: true },
  { path: "/log", presses: ["视图"] },
  { path: "/log", presses: ["清理日志"] },
  { path: "/user?edit=new" },
  { path: "/user?edit={user}" },
  { path: "/user?edit={user}", presses: ["额度流水"] },
  { path: "/user?edit={user}", presses: ["账号绑定"] },
  { path: "/redemption?edit=new" },
  { path: "/token?open=1" },
  { path: "/token", presses: ["行菜单", "删除"] },
  { path: "/setting/pricing?edit=gpt-4o" },
  { path: "/channel?open=1", presses: ["变更"] },
  { path: "/channel?open=1", presses: ["轮换密钥"] },
  { path: "/channel", presses: ["更多操作", "路由预演…"] },
  { path: "/channel", presses: ["行菜单"] },
  { path: "/setting?tab=operation", presses: ["{name}的修改历史"] },
  { path: "/setting?tab=alert", presses: ["添加规则"] },
  { path: "/setting?tab=alert", presses: ["添加通知对象"] },
  { path: "/setting?tab=personal", presses: ["修改密码"] },
  { path: "/setting?tab=personal", presses: ["启用"] },
  { path: "/setting?tab=personal", presses: ["绑定手机"], inline: true },
  // WeChat's, the only way of others that is configured.
  { path: "/setting?tab=personal", presses: ["绑定 {name}"] },
  { path: "/setting?tab=other", presses: ["查看报告"] },
  { path: "/setting/pricing", presses: ["选择本页全部", "按比例调整"], wide: true },
  { path: "/channel", presses: ["更多操作", "修复数据库一致性"] },
  { path: "/channel", presses: ["行菜单", "检测上游"] },
  { path: "/channel?edit=1", presses: ["获取模型列表"] },
  { path: "/topup", presses: ["划转到余额"] },
  { path: "/topup", presses: ["申请提现"] },
  { path: "/pricing", presses: ["计费公式"] },
];

const pattern = (text: string): RegExp =>
  new RegExp(
    `^${text
      .split(/\{[^{}]*\}/)
      .map((part) => part.replaceAll(/[.*+?^$()[\]\\|]/g, "\\$&"))
      .join(".*")}`,
  );

/** Opens a layer in the console at `origin`; the caller waits until it is settled. */
export async function openLayer(
  page: Page,
  origin: string,
  language: Language,
  layer: Layer,
  rows: LayerRows,
): Promise<void> {
  const path = Object.entries(rows).reduce((text, [name, id]) => text.replace(`{${name}}`, String(id)), layer.path);
  await page.goto(origin + path);
  await page.locator("main").first().waitFor();
  // What loads above a button moves it from under the mouse.
  if (layer.presses) await settled(page);
  for (const text of layer.presses ?? []) {
    const name = pattern(consoleText(language, text));
    const press = page
      .getByRole("button", { name, disabled: false })
      .or(page.getByRole("checkbox", { name }))
      .or(page.getByRole("tab", { name }))
      .or(page.getByRole("menuitem", { name }))
      .or(page.getByRole("link", { name }));
    await press.first().click();
  }
  if (layer.keys) await page.keyboard.press(layer.keys);
}
