/**
 * What a plan says in words, in the reader's language: why something was changed or left, notes, questions. A kept
 * report has the English words, the keys here.
 */
import type { Lang } from "../../../shared/text";

const ZH: Readonly<Record<string, string>> = {
  "the first line": "文件的第一行",
  "read for prices": "已用于价格",
  "read for groups": "已用于分组",
  "part of the channels": "已并入渠道",
  "Weir has no teams: their keys get an account": "Weir 没有团队：其密钥归入一个单独的账户",
  "not moved: what was spent is in the totals": "不迁移：消费已计入总计",
  "settings of the router and the server are made by hand": "路由与服务器的设置需手动完成",
  "windows begin with the day or month here; what is spent in the running one is taken":
    "这里的周期从自然日或自然月开始；当前周期已消费的额度会带走",
  "models are limited by keys here": "这里按令牌限制模型",
  "a key has no names of its own for models here": "这里的令牌没有自己的模型别名",
  "Weir has no data on keys": "Weir 的令牌没有附加数据",
  "derived from the channels": "由渠道得出",
  "history: --records takes it": "历史记录：用 --records 带走",
  "older than --records": "早于 --records 的期限",
  "not paid: nothing came of it": "未支付：没有到账",
  "still running": "仍在运行",
  "of a platform that Weir does not have": "Weir 没有的平台",
  "used: the source does not know by whom": "已使用：来源不知道使用者",
  "told by the method of payment": "由支付方式得知",
  "part of what was paid": "已含在支付金额中",
  "the time of the submit tells it": "由提交时间得知",
  "the time of the end tells it": "由结束时间得知",
  "the roll-ups are made of the log": "汇总由日志生成",
  "what they gave is in the balances": "所得额度已在余额中",
  "gateways of payment are set by hand": "支付网关需手动设置",
  "bound to the old address: users add their passkeys again": "绑定旧地址：用户需重新添加通行密钥",
  "Weir has no such provider": "Weir 没有这种登录方式",
  "Weir has no pictures of users": "Weir 没有用户头像",
  "not kept": "不保留",
  "Weir has no second group of a token: the group auto tries several":
    "Weir 的令牌没有第二个分组：分组 auto 会依次尝试",
  "Weir asks the type what it serves": "Weir 由渠道类型决定提供什么",
  "Weir holds what a call may cost": "Weir 预扣一次调用可能的费用",
  "Weir translates Responses by itself": "Weir 自行转换 Responses",
  "not known to Weir": "Weir 不认识",
  "the factors of old prices": "旧价格的倍率",
  "Weir has no plans": "Weir 没有套餐",
  "what is left of a plan must be given as a credit by hand": "套餐的剩余需手动补为额度",
  "recovery codes are hashed differently: users set their second factor up again":
    "恢复码的散列方式不同：用户需重新设置两步验证",
  "Weir has no remarks on users": "Weir 的用户没有备注",
  "Stripe makes a new customer at the next order": "Stripe 会在下一笔订单时新建客户",
  "here the group auto tries its groups in order": "这里的分组 auto 按顺序尝试",
  "Weir has no remarks on channels": "Weir 的渠道没有备注",
  "one-api draws evenly among channels of one priority": "one-api 在同一优先级的渠道间均匀选择",
  "not recorded here": "这里不记录",
  "rows get an id of their own": "每行会得到自己的编号",
  deleted: "已删除",
  "not a hash of a key": "不是密钥的散列",
  "without a key": "没有密钥",
  "used: its units are in the balances": "已使用：额度已在余额中",
  "without a password: must be reset": "没有密码：需要重置",
  "tests of channels": "渠道测试",
  renamed: "改名",
  "left by decision": "按决定不带走",
  "a debt becomes 0": "负余额变为 0",
  "mail belongs to an account here": "邮箱已属于这里的账户",
  "mail left to another user": "邮箱留给另一个用户",
  "of an unknown type: kept disabled": "类型未知：保留并停用",
  "of a user who is not taken": "所属用户未带走",
  "of users who are not taken": "所属用户未带走",
  "the same key twice": "密钥重复",
};

/** Sentences with values of the source in them: `{}` stands for any, in the same order in both languages. */
const SENTENCES: readonly (readonly [en: string, zh: string])[] = [
  // Options
  ["{}: set it by hand, it names the old server", "{}：请手动设置，原值指向旧服务器"],
  [
    "{}: counts retries at other channels, and Weir bounds their time and cost too",
    "{}：这里是在其他渠道重试的次数，Weir 还限制重试的时间与费用",
  ],
  ["{}: is the longest time of a test, in seconds", "{}：这里是一次测试的最长秒数"],
  [
    "price of {}: its expression has no equal here; set its price before it is used",
    "{} 的价格：表达式在这里没有对应，使用前请设置价格",
  ],
  ["price of {}: it has an output price and no input price", "{} 的价格：只有输出价格，没有输入价格"],
  ["{}: prices of plugins", "{}：插件的价格"],
  ["extra ratio {} of {}", "附加倍率 {}，模型 {}"],
  ["promotion of group {} by what is paid", "分组 {} 按充值升级"],
  [
    "budgets: a window of a day or a month is a budget here, and its user has a balance of {}; a budget of another duration becomes a balance that must be topped up",
    "预算：按日或按月的周期在这里仍是预算，其用户有余额 {}；其他周期的预算变为需要充值的余额",
  ],
  [
    "teams, organisations and projects: here a key belongs to one user; keys of a team get an account of their own",
    "团队、组织与项目：这里每个令牌属于一个用户；团队的令牌归入一个单独的账户",
  ],
  [
    "fallbacks, aliases and routing strategies of the router: here channels of one model are tried by priority and weight",
    "路由的回退、别名与策略：这里按优先级与权重依次尝试一个模型的渠道",
  ],
  // Channels
  ["settings.{} is not taken over", "不带走 settings.{}"],
  ["{} is no JSON object", "{} 不是 JSON 对象"],
  ["cannot be called as it is: {}", "目前无法调用：{}"],
  ["cannot be read, is the salt right?: {}", "无法解密，盐是否正确？{}"],
  ["the wildcard {}: fetch the channel's models and choose", "通配符 {}：请获取渠道的模型并选择"],
  ["limits of calls and tokens a minute are not taken over", "不带走每分钟的调用与 Token 限制"],
  // Notes
  [
    "The table {} beside the users has {} rows that are not read: --log-source has the log.",
    "用户旁边的表 {} 有 {} 行没有读取：日志来自 --log-source。",
  ],
  [
    "The source states no prices of its own: what its built-in prices were is not known, so only the prices here are shown.",
    "来源没有自己的价格：其内置价格未知，因此只显示这里的价格。",
  ],
  [
    "{} accounts of OpenID Connect are bound to the issuer {}: compare it with the provider's discovery document.",
    "{} 个 OpenID Connect 账号绑定到签发者 {}：请与提供方的发现文档核对。",
  ],
  [
    "{} GitHub accounts are known by their login name alone, which is no proof: their users bind GitHub again.",
    "{} 个 GitHub 账号只有登录名，不能作为凭证：这些用户需重新绑定 GitHub。",
  ],
  // Questions
  [
    "{} users have a GitHub entry of digits alone. Numeric ids of GitHub bind the account; login names must not. Which are they?",
    "{} 个用户的 GitHub 一栏只有数字。数字 ID 可以绑定账号，登录名不可以。它们是哪一种？numeric：数字 ID；logins：登录名。",
  ],
  [
    "User {} is named {}, as the account {} (id {}) here. join: one account with both balances; rename: {}; leave: not taken.",
    "用户 {} 名为 {}，与这里的账户 {}（编号 {}）同名。join：合为一个账户，余额相加；rename：改名为 {}；leave：不带走。",
  ],
  [
    "User {} is named {}, as another user of the source, but for case. rename: {}; leave: not taken.",
    "用户 {} 名为 {}，与来源的另一个用户只有大小写不同。rename：改名为 {}；leave：不带走。",
  ],
  [
    "Users {} have the mail {}; here one account has it.",
    "用户 {} 的邮箱都是 {}；这里一个邮箱只属于一个账户。first：第一个；last：最后一个；none：都不带走。",
  ],
  [
    "Some balances are below zero, which none is here. zero: they begin at 0, the debts are listed.",
    "有余额为负，这里没有负余额。zero：从 0 开始，欠额已列出。",
  ],
  [
    'Channels of {} have no type here. disabled: kept as "Custom", disabled, never called; leave: not taken.',
    "{} 的渠道在这里没有对应类型。disabled：保留为停用的“自定义”渠道，不会被调用；leave：不带走。",
  ],
  [
    "{} drawings and other jobs have no end yet. leave: they are not taken, and what fails after the move is not given back. Else wait until they have ended.",
    "{} 个绘画或其他任务尚未结束。leave：不带走，迁移之后失败的不会退还。否则请等到它们结束。",
  ],
];

const PATTERNS = SENTENCES.map(([en, zh]) => ({
  fits: new RegExp(`^${en.split("{}").map(RegExp.escape).join("(.*?)")}$`, "s"),
  zh: zh.split("{}"),
}));

function sentenceZh(words: string): string | undefined {
  for (const { fits, zh } of PATTERNS) {
    const found = fits.exec(words);
    if (found) return zh.map((part, i) => part + (i + 1 < zh.length ? (found[i + 1] ?? "") : "")).join("");
  }
  return undefined;
}

/** The words themselves where there is no translation: they name something of the source. */
export const reasonText = (words: string, lang: Lang): string =>
  lang === "zh" ? (ZH[words] ?? sentenceZh(words) ?? words) : words;
