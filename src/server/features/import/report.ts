/** An import's plan and result as text for a terminal. Names and mails are shown, secrets are never part of a plan. */
import type { Lang } from "../../../shared/text";
import { openDecisions, type Plan, type PriceReport } from "./plan";
import type { Done } from "./done";
import { reasonText } from "./reasons";

type Say = (zh: string, en: string) => string;
const sayIn =
  (lang: Lang): Say =>
  (zh, en) =>
    lang === "zh" ? zh : en;

const dollars = (one: PriceReport["old"], say: Say): string => {
  if (!one) return "?";
  if (one.call !== undefined) return say(`每次 $${one.call}`, `$${one.call} a call`);
  return `$${one.input ?? "?"} / $${one.output ?? "?"}`;
};

const counts = (list: Readonly<Record<string, number>>, lang: Lang): string =>
  Object.entries(list)
    .map(([what, n]) => (lang === "zh" ? `${reasonText(what, lang)} ${n}` : `${n} ${what}`))
    .join(lang === "zh" ? "；" : "; ");

/** At most so many lines of one list; --json has all. */
const MOST = 60;

/** What tables become, as `plan.tables` names it. */
const BECOMES_ZH: Readonly<Record<string, string>> = {
  users: "用户",
  tokens: "令牌",
  channels: "渠道",
  "redemption codes": "兑换码",
  log: "日志",
  orders: "订单",
  drawings: "绘画任务",
  tasks: "任务",
};

/** The plan, with the decisions file to be filled at its end where one is open. */
export function planText(plan: Plan, lang: Lang = "en"): string {
  const say = sayIn(lang);
  const list = (title: string, lines: readonly string[]): string[] => {
    if (lines.length === 0) return [];
    const rest = lines.length - MOST;
    const more =
      rest > 0 ? [say(`  … 另有 ${rest} 行（--json 列出全部）`, `  … and ${rest} more (--json lists all)`)] : [];
    return ["", title, ...lines.slice(0, MOST).map((line) => `  ${line}`), ...more];
  };
  const inWords = (sentences: readonly string[]): string[] => sentences.map((one) => reasonText(one, lang));
  const { balances, decisions } = plan;
  const open = openDecisions(plan);
  const out = [say("来源：", "Source: ") + `${plan.recognised}, ${plan.engine} (${plan.source})`];
  out.push(
    ...list(
      say("表", "Tables"),
      plan.tables.flatMap((one) => [
        say(
          `${one.table}：${one.rows} 行中的 ${one.taken} 行成为${BECOMES_ZH[one.becomes] ?? one.becomes}`,
          `${one.table}: ${one.taken} of ${one.rows} rows become ${one.becomes}`,
        ),
        ...(Object.keys(one.changed).length > 0 ? [`  ${say("有改动", "changed")}: ${counts(one.changed, lang)}`] : []),
        ...(Object.keys(one.left).length > 0 ? [`  ${say("不带走", "left")}: ${counts(one.left, lang)}`] : []),
        ...one.columns.map(({ column, rows, why }) =>
          say(
            `  不带走：${one.table}.${column}，${rows} 行（${reasonText(why, lang)}）`,
            `  not taken: ${one.table}.${column}, ${rows} rows (${why})`,
          ),
        ),
      ]),
    ),
    ...list(
      say("不带走的表", "Tables that are not taken"),
      plan.other.map(({ table, rows, why }) =>
        say(`${table}：${rows} 行（${reasonText(why, lang)}）`, `${table}: ${rows} rows (${why})`),
      ),
    ),
    ...list(
      say("渠道", "Channels"),
      plan.channels.map(
        ({ id, name, was, becomes, notes }) =>
          `${id} ${name}: ${was} -> ${becomes}${inWords(notes)
            .map((note) => `\n      ${note}`)
            .join("")}`,
      ),
    ),
    ...list(
      say(
        "价格，美元每百万 Token，输入 / 输出：原来 -> 这里",
        "Prices, USD per million tokens in / out: there -> here",
      ),
      plan.prices.map(
        (one) =>
          `${one.model}: ${dollars(one.old, say)} -> ${one.now ? dollars(one.now, say) : say("没有价格：调用会被拒绝", "no price: calls are refused")}${one.differs ? say("   <- 不同", "   <- differs") : ""}`,
      ),
    ),
    ...list(say("在这里含义不同的设置", "Options that mean something else here"), inWords(plan.options.differs)),
    ...list(say("不带走的设置", "Options that are not taken"), inWords(plan.options.left)),
    ...list(say("说明", "Notes"), inWords(plan.notes)),
  );
  const { shadow } = plan;
  if (shadow.calls > 0)
    out.push(
      ...list(
        say(
          `最近 ${shadow.calls} 次计费调用按这里的价格（额度单位）：原来 ${shadow.old}，这里 ${shadow.now}`,
          `The last ${shadow.calls} charged calls at the prices here, in units: ${shadow.old} there, ${shadow.now} here`,
        ),
        [
          ...(shadow.unpriced > 0
            ? [say(`其中 ${shadow.unpriced} 次在这里没有价格`, `${shadow.unpriced} of them have no price here`)]
            : []),
          ...shadow.models.map(
            ({ model, group, calls, old, now }) =>
              `${model} (${group}): ${calls} ${say("次", "calls")}, ${old} -> ${now}`,
          ),
          ...(shadow.models.length === 0 && shadow.unpriced === 0
            ? [say("各模型费用相同", "each model is charged the same")]
            : []),
        ],
      ),
    );
  const differences = shadow.differences ?? [];
  out.push(
    ...list(
      say(`其中 ${differences.length} 次的费用不同`, `${differences.length} of them are charged differently`),
      differences.map(({ id, model, old, now }) => `${model} ${say("日志", "log")} ${id}: ${old} -> ${now}`),
    ),
  );
  const even = balances.old + balances.debts === balances.now;
  out.push(
    "",
    say(
      `带走的设置：${plan.options.taken.length}。没有价格的模型：${plan.unpriced.length}。`,
      `Options taken: ${plan.options.taken.length}. Models without a price: ${plan.unpriced.length}.`,
    ),
    say(
      `${balances.users} 个用户的余额（额度单位）：原来 ${balances.old}，这里 ${balances.now}${balances.debts > 0 ? `（负余额 ${balances.debts} 变为 0）` : ""}：${even ? "相等" : "不相等"}。`,
      `Balances of ${balances.users} users, in units: ${balances.old} there, ${balances.now} here${balances.debts > 0 ? ` (debts of ${balances.debts} become 0)` : ""}: ${even ? "equal" : "NOT EQUAL"}.`,
    ),
  );
  if (balances.left !== 0)
    out.push(say(`未带走的用户共有 ${balances.left} 额度。`, `Users who are not taken have ${balances.left} units.`));
  if (decisions.length > 0)
    out.push(
      ...list(
        say("决定", "Decisions"),
        decisions.map(
          ({ id, question, choices, recommended, answer }) =>
            `${id}: ${answer ?? say(`待定（${choices.join(" | ")}；建议：${recommended}）`, `OPEN (${choices.join(" | ")}; recommended: ${recommended})`)}\n      ${reasonText(question, lang)}`,
        ),
      ),
    );
  if (open.length > 0)
    out.push(
      "",
      say(
        `还有 ${open.length} 个决定待定。按建议填写的 --decisions 文件：`,
        `${open.length} decisions are open. A file for --decisions with what is recommended:`,
      ),
      JSON.stringify(Object.fromEntries(decisions.map((one) => [one.id, one.answer ?? one.recommended])), undefined, 2),
    );
  return out.join("\n");
}

/** What a run wrote. */
export function doneText(done: Done, lang: Lang = "en"): string {
  const { users, channels, codes, records, logs, options, moved, finished } = done;
  const say = sayIn(lang);
  const left = Object.keys(logs.left).length > 0 ? counts(logs.left, lang) : "";
  const out = [
    say(
      `用户：新增 ${users.users}，变更 ${users.changed}，未变 ${users.unchanged}。令牌：新增 ${users.tokens}。`,
      `Users: ${users.users} new, ${users.changed} changed, ${users.unchanged} as before. Tokens: ${users.tokens} new.`,
    ),
    say(
      `渠道：新增 ${channels}。兑换码：新增 ${codes}。`,
      `Channels: ${channels} new. Redemption codes: ${codes} new.`,
    ),
    say(
      `日志：${logs.read} 行计入汇总，保留 ${logs.kept} 行。${left && `不带走：${left}。`}`,
      `Log: ${logs.read} rows read into roll-ups, ${logs.kept} kept.${left && ` Left: ${left}.`}`,
    ),
  ];
  if (records && Object.values(records).some((n) => n > 0))
    out.push(
      say(
        `记录：订单 ${records.orders}，已使用的兑换码 ${records.codes}，绘画 ${records.drawings}，任务 ${records.tasks}。余额不变。`,
        `Records: ${records.orders} orders, ${records.codes} used codes, ${records.drawings} drawings, ${records.tasks} tasks. No balance was changed by them.`,
      ),
    );
  for (const [key, why] of Object.entries(options))
    out.push(say(`设置 ${key} 无法保存：${why}`, `Option ${key} could not be set: ${why}`));
  if (moved)
    out.push(
      say(
        "读取期间来源有变化：停止它后再次迁移，只带走变化的部分。",
        "The source changed while it was read: stop it and run the import again; only what changed is taken.",
      ),
    );
  if (!finished)
    out.push(say("已中断：同一命令会从中断处继续。", "Interrupted: the same command goes on where it stopped."));
  return out.join("\n");
}
