/** The specification's messages of failures: their Chinese words are the source, and each has its English. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { errors } from "../../src/shared/errors";

const catalogue = await Bun.file(join(import.meta.dir, "../../locales/en.po")).text();

/** The English of a text of the console or of an error of the server. */
function english(zh: string): string | undefined {
  const of = Object.values(errors).find(({ text }) => text.zh === zh);
  if (of) return of.text.en;
  const from = catalogue.indexOf(`\nmsgid ${JSON.stringify(zh)}\n`);
  return from < 0 ? undefined : /\nmsgstr "(.*)"\n/.exec(catalogue.slice(from))?.[1];
}

test.each([
  // spec: A-471
  ["请求过于频繁，请稍后再试", /^too many requests.*try again later/i],
  // spec: A-472
  ["服务器内部错误，请联系管理员", /^internal server error.*contact the administrator/i],
  // spec: A-473
  ["本站仅供演示，没有服务端", /demo without a server/i],
  // spec: A-474
  ["错误：{0}", /^error: \{0\}$/i],
  // spec: A-475
  ["请稍等几秒，正在检查环境", /wait a few seconds/i],
  // spec: A-476
  ["无法复制到剪贴板，请手动复制", /copy.*manually/i],
  // spec: A-477
  ["部分保存失败，请重试", /^some saves failed.*try again/i],
  // spec: A-478
  ["保存失败，请重试", /^saving failed.*try again/i],
  // spec: A-479
  ["获取模型列表失败", /^failed to fetch (the )?model list/i],
  // spec: A-480
  ["请填写密钥", /^please fill in the key/i],
  // spec: A-481
  ["请填写名称和密钥", /^please fill in the name and the key/i],
  // spec: A-482
  ["请至少选择一个模型", /^please select at least one model/i],
  // spec: A-483
  ["模型映射必须是合法的 JSON 格式！", /^the model mapping must be valid json/i],
  // spec: A-486
  ["日志清理失败：{message}", /^log cleanup failed: \{message\}/i],
] as const)("%s is a message, and has its English", (zh, en) => {
  // spec: A-471..A-483, A-486
  expect(english(zh)).toMatch(en);
});
