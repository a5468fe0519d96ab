/**
 * The members of a channel's `setting`, declared once: form, validation and relay read them here. The names of the
 * first block are the original API's. Undeclared members are kept as they are.
 */
import { parseCostPrices } from "./cost";
import type { Text } from "./text";

interface MemberBase {
  readonly label: Text;
  readonly hint?: Text;
  readonly section: "connection" | "answer" | "billing";
}
interface SwitchMember extends MemberBase {
  readonly kind: "switch";
}
interface TextMember extends MemberBase {
  readonly kind: "text" | "long-text" | "proxy";
  readonly max: number;
  readonly placeholder?: string;
  /** The reason why a text that is not empty does not fit. */
  readonly check?: (text: string) => Text | undefined;
}
interface NumberMember extends MemberBase {
  readonly kind: "number";
  readonly min: number;
  readonly max: number;
  readonly unit: Text;
}
interface ChoiceMember<Value extends string = string> extends MemberBase {
  readonly kind: "choice";
  /** The first is the default. */
  readonly choices: readonly { readonly value: Value; readonly label: Text }[];
}
export type SettingMember = SwitchMember | TextMember | NumberMember | ChoiceMember;

const SECONDS: Text = { zh: "秒", en: "s" };
const usual: Text = { zh: "留空则用系统设置", en: "Empty: the system's setting" };
const seconds = (zh: string, en: string, max: number, min = 1, hint: Text = usual) =>
  ({
    kind: "number",
    section: "connection",
    label: { zh, en },
    hint,
    min,
    max,
    unit: SECONDS,
  }) as const satisfies NumberMember;

export const settingMembers = {
  proxy: {
    kind: "proxy",
    section: "connection",
    max: 2048,
    placeholder: "socks5://user:password@127.0.0.1:1080",
    label: { zh: "代理地址", en: "Proxy" },
    hint: {
      zh: "http、https、socks5 或 socks4；代理不可用时不会直连；密码加密保存并显示为 ********，原样保留即不变",
      en: "http, https, socks5 or socks4; a proxy that is down is never passed by; its password is stored encrypted and shown as ********, which left as it is means unchanged",
    },
  },
  connect_timeout: seconds("连接超时", "Connect timeout", 600),
  first_byte_timeout: seconds("流首个事件超时", "First-event timeout of a stream", 3600),
  idle_timeout: seconds("空闲超时", "Idle timeout", 3600),
  total_timeout: seconds("总时限", "Total timeout", 86_400),
  ping_interval: seconds("心跳间隔", "Ping interval", 600, 0, {
    zh: "等待上游时多久向调用方发一次心跳；0 关闭，留空则用系统设置。在此填写后，图像、转写、重排等非流式 JSON 回答也会先发状态 200 与空白",
    en: "How often a waiting caller gets a ping; 0 is never, empty the system's setting. Set here, JSON answers of pictures, transcripts and rerankings are preceded by status 200 and blanks as well",
  }),
  on_disconnect: {
    kind: "choice",
    section: "connection",
    label: { zh: "调用方断开时", en: "When the caller leaves" },
    choices: [
      { value: "drain", label: { zh: "短暂读完上游以取得用量", en: "Read on briefly for the usage" } },
      { value: "cut", label: { zh: "立即断开上游", en: "Cut the upstream at once" } },
    ],
  },
  system_prompt: {
    kind: "long-text",
    section: "answer",
    max: 100_000,
    label: { zh: "系统提示词", en: "System prompt" },
    hint: { zh: "请求自己没有系统提示词时加入", en: "Added to calls that bring none of their own" },
  },
  system_prompt_override: {
    kind: "switch",
    section: "answer",
    label: { zh: "拼接到请求的系统提示词之前", en: "Put before the call's own system prompt" },
    hint: {
      zh: "关闭时，自带系统提示词的请求保持原样",
      en: "Off: calls with a system prompt of their own stay as they are",
    },
  },
  force_format: {
    kind: "switch",
    section: "answer",
    label: { zh: "强制标准格式", en: "Force the standard format" },
    hint: {
      zh: "按标准结构重写上游的回答，去掉多余字段",
      en: "The upstream's answer is written anew in the standard shape, without extra fields",
    },
  },
  pass_through_body_enabled: {
    kind: "switch",
    section: "answer",
    label: { zh: "请求体原样透传", en: "Pass bodies through unchanged" },
    hint: {
      zh: "只替换映射后的模型名；格式不同的请求仍会转换。上游不返回用量时按估算计费",
      en: "Only a mapped model's name is replaced; calls of another format are still translated. Without usage from the upstream tokens are estimated",
    },
  },
  thinking_to_content: {
    kind: "switch",
    section: "answer",
    label: { zh: "思考内容并入正文", en: "Thoughts into the content" },
    hint: {
      zh: "以 <think> 标签放进回答正文（OpenAI 聊天格式的调用方）",
      en: "Inside <think> tags in the answer's text (for callers of the OpenAI chat format)",
    },
  },
  native_calls: {
    kind: "choice",
    section: "answer",
    label: { zh: "Responses 与 Messages 调用", en: "Responses and Messages calls" },
    hint: { zh: "供应商自己提供这些接口时才有区别", en: "Matters where the vendor has these interfaces besides chat" },
    choices: [
      {
        value: "auto",
        label: {
          zh: "官方地址原样转发，其他地址转换为对话",
          en: "As they are to the vendor's own address, translated elsewhere",
        },
      },
      { value: "always", label: { zh: "原样转发", en: "As they are" } },
      { value: "never", label: { zh: "转换为对话", en: "Translated to chat" } },
    ],
  },
  responses_api: {
    kind: "choice",
    section: "answer",
    label: { zh: "以 Responses 格式对话", en: "Conversations in the Responses format" },
    hint: {
      zh: "部分 OpenAI 模型（codex、pro，带工具的 gpt-5.4 及更新型号）只在 /v1/responses 接受这类请求；映射后的模型名决定",
      en: "Some models of OpenAI (codex, pro, gpt-5.4 and later with tools) take such calls at /v1/responses only; the mapped model's name decides",
    },
    choices: [
      {
        value: "auto",
        label: {
          zh: "模型需要时（上一项为“转换为对话”时除外）",
          en: "Where the model needs it (unless calls are translated to chat above)",
        },
      },
      { value: "always", label: { zh: "总是", en: "Always" } },
      {
        value: "never",
        label: { zh: "从不，即使供应商会拒绝", en: "Never, even where the vendor refuses" },
      },
    ],
  },
  cache_marks: {
    kind: "choice",
    section: "billing",
    label: { zh: "自动缓存标记（Anthropic）", en: "Automatic cache marks (Anthropic)" },
    hint: {
      zh: "其他格式的带工具对话转给 Claude 时加上缓存标记：写入缓存略贵，之后每轮读取便宜得多；自带标记的调用保持原样",
      en: "Conversations with tools that are translated for Claude get cache marks: writing costs a little more, reading in every later turn far less; calls with marks of their own stay as they are",
    },
    choices: [
      {
        value: "auto",
        label: {
          zh: "缓存读取价不超过输入价的五分之一时",
          en: "Where reads cost at most a fifth of the input",
        },
      },
      { value: "always", label: { zh: "总是", en: "Always" } },
      { value: "never", label: { zh: "从不", en: "Never" } },
    ],
  },
  stateless: {
    kind: "switch",
    section: "answer",
    label: { zh: "上游不保存回答", en: "The upstream keeps no answers" },
    hint: { zh: "Responses 的后续调用由 Weir 补全上文", en: "Weir completes what a Responses call continues" },
  },
  allow_files: {
    kind: "switch",
    section: "answer",
    label: { zh: "允许上传文件", en: "Allow files" },
    hint: {
      zh: "用户可把文件存到此渠道的供应商处（/v1/files）",
      en: "Users may leave files with this channel's vendor (/v1/files)",
    },
  },
  allow_batches: {
    kind: "switch",
    section: "answer",
    label: { zh: "允许批处理", en: "Allow batches" },
    hint: {
      zh: "需要允许上传文件；按批处理倍率计费（/v1/batches）",
      en: "Needs files; billed at the batch ratio (/v1/batches)",
    },
  },
  allow_service_tier: {
    kind: "switch",
    section: "billing",
    label: { zh: "允许更贵的服务等级", en: "Allow dearer service tiers" },
    hint: {
      zh: "service_tier 为 priority、fast 等时供应商收费更高；Weir 按价格规则里的服务档位计费，没有这样的规则时仍按模型的价格。关闭时去掉这一字段",
      en: "The vendor asks more for priority, fast and the like; Weir charges by a price rule for the service tier, without one the model's price. Off: the field is left out",
    },
  },
  allow_speed: {
    kind: "switch",
    section: "billing",
    label: { zh: "允许快速模式（Anthropic）", en: "Allow fast mode (Anthropic)" },
    hint: {
      zh: "speed 为 fast 时供应商收费更高；Weir 按价格规则里请求成员 speed 的值计费，没有这样的规则时仍按模型的价格。关闭时去掉这一字段",
      en: "The vendor asks more for speed fast; Weir charges by a price rule for the request's speed, without one the model's price. Off: the field is left out",
    },
  },
  allow_inference_geo: {
    kind: "switch",
    section: "billing",
    label: { zh: "允许指定推理地区（Anthropic）", en: "Allow a region of inference (Anthropic)" },
    hint: {
      zh: "指定 inference_geo 时供应商收费更高；Weir 按价格规则里的处理地区计费，没有这样的规则时仍按模型的价格。关闭时去掉这一字段",
      en: "The vendor asks more for an inference_geo; Weir charges by a price rule for the region, without one the model's price. Off: the field is left out",
    },
  },
  bill_by: {
    kind: "choice",
    section: "billing",
    label: { zh: "映射后的计费名称", en: "Mapped models are billed as" },
    choices: [
      { value: "requested", label: { zh: "请求的模型", en: "The model that was asked for" } },
      { value: "upstream", label: { zh: "发给上游的模型", en: "The model sent upstream" } },
    ],
  },
  cost_percent: {
    kind: "number",
    section: "billing",
    label: { zh: "成本占公布价的比例", en: "Cost as a share of the list price" },
    hint: {
      zh: "此渠道实付相当于供应商公布价的百分之几；留空为 100，0 表示不花钱。只用于记录成本，不影响对用户的计费",
      en: "What this channel really costs, in percent of the vendor's list price; empty is 100, 0 costs nothing. For the record of costs only: users pay the same",
    },
    min: 0,
    max: 10_000,
    unit: { zh: "%", en: "%" },
  },
  cost_prices: {
    kind: "long-text",
    section: "billing",
    max: 50_000,
    label: { zh: "成本价格", en: "Cost prices" },
    hint: {
      zh: '上游模型 → {"input": 每百万, "output": 每百万, "cache_read": …, "call": 每次, "rules": [价格规则]} 的 JSON，名称可以 * 结尾；以美元或下面的货币计；没有列出的模型按公布价的比例计算',
      en: 'JSON of upstream model → {"input": per million, "output": per million, "cache_read": …, "call": per call, "rules": [price rules]}; names may end in *; in dollars or in the currency below; models not listed cost their share of the list price',
    },
    check: (text) => {
      const parsed = parseCostPrices(text);
      return "problem" in parsed
        ? { zh: `不是合法的成本价格：${parsed.problem}`, en: `must be cost prices: ${parsed.problem}` }
        : undefined;
    },
  },
  cost_currency: {
    kind: "text",
    section: "billing",
    max: 3,
    placeholder: "CNY",
    label: { zh: "成本价格的货币", en: "Currency of the cost prices" },
    hint: {
      zh: "三个大写字母的货币代码，留空为美元；按设置项“货币汇率”换算成美元，没有汇率时成本记为未知",
      en: "A code of three capital letters, empty for dollars; converted by the option Currency rates, without a rate the cost is not known",
    },
    check: (text) =>
      /^[A-Z]{3}$/.test(text) ? undefined : { zh: "必须是三个大写字母", en: "must be three capital letters" },
  },
  cost_at: {
    kind: "choice",
    section: "billing",
    label: { zh: "成本按哪一刻的时段价格", en: "Hours of the cost are those of" },
    choices: [
      { value: "request", label: { zh: "请求开始时", en: "The request" } },
      { value: "completion", label: { zh: "回答结束时", en: "The end of the answer" } },
    ],
  },
  trust_usage: {
    kind: "switch",
    section: "billing",
    label: { zh: "完全信任上游的用量", en: "Believe the upstream's usage whatever it says" },
    hint: {
      zh: "关闭时，为零的用量改为估算，远超合理范围的按上限计费并标记渠道；开启后只有不可能的数量（负数、小数等）才改为估算",
      en: "Off: usage of zero is estimated, and what is far beyond plausible is charged at a bound and marks the channel. On: only impossible counts (negative, fractions) are estimated",
    },
  },
  bill_broken: {
    kind: "choice",
    section: "billing",
    label: { zh: "上游在回答途中失败时", en: "When the upstream fails amid an answer" },
    hint: { zh: "首个内容之前失败的调用从不收费", en: "Calls that fail before their first content are always free" },
    choices: [
      { value: "produced", label: { zh: "按已产生的部分计费", en: "Charge what was produced" } },
      { value: "free", label: { zh: "不计费", en: "Charge nothing" } },
    ],
  },
  bill_left: {
    kind: "choice",
    section: "billing",
    label: { zh: "调用方提前离开时的计费", en: "Charge of a caller who left" },
    choices: [
      { value: "produced", label: { zh: "按已产生的部分计费", en: "Charge what was produced" } },
      { value: "free", label: { zh: "不计费", en: "Charge nothing" } },
    ],
  },
} as const satisfies Record<string, SettingMember>;

export type SettingName = keyof typeof settingMembers;
export const settingNames = Object.keys(settingMembers) as SettingName[]; // its own keys

type ValueOf<M> = M extends { kind: "switch" }
  ? boolean
  : M extends { kind: "number" }
    ? number
    : M extends { choices: readonly { value: infer Value }[] }
      ? Value
      : string;

/** A channel's setting as the relay reads it: declared members have their type, others are as stored. */
export type ChannelSetting = { readonly [Name in SettingName]?: ValueOf<(typeof settingMembers)[Name]> } & Readonly<
  Record<string, unknown>
>;

/** Protocols by which a proxy can be reached. */
const PROXY_SCHEMES = new Set(["http:", "https:", "socks5:", "socks5h:", "socks4:", "socks4a:"]);

/** The address of a proxy; undefined for one that Weir cannot use. */
export function proxyAddress(text: string): URL | undefined {
  const url = URL.parse(text.trim());
  return url && PROXY_SCHEMES.has(url.protocol) && url.hostname !== "" ? url : undefined;
}

/** The reason why a value does not fit its member; undefined when it does. Empty texts mean not set. */
export function settingProblem(name: SettingName, value: unknown): Text | undefined {
  const member: SettingMember = settingMembers[name];
  if (value === undefined || value === null) return undefined;
  switch (member.kind) {
    case "switch":
      return typeof value === "boolean" ? undefined : { zh: "应为 true 或 false", en: "must be true or false" };
    case "number": {
      const fits = typeof value === "number" && Number.isInteger(value) && value >= member.min && value <= member.max;
      return fits
        ? undefined
        : {
            zh: `应为 ${member.min} 到 ${member.max} 的整数`,
            en: `must be an integer from ${member.min} to ${member.max}`,
          };
    }
    case "choice": {
      const values = member.choices.map((choice) => choice.value);
      return values.some((one) => one === value)
        ? undefined
        : { zh: `应为 ${values.join("、")} 之一`, en: `must be one of ${values.join(", ")}` };
    }
    default: {
      if (typeof value !== "string") return { zh: "应为文本", en: "must be a text" };
      if (value.length > member.max)
        return { zh: `最多 ${member.max} 个字符`, en: `has at most ${member.max} characters` };
      if (value.trim() === "") return undefined;
      if (member.check) return member.check(value);
      if (member.kind !== "proxy" || proxyAddress(value)) return undefined;
      return { zh: "应为 http、https、socks5 或 socks4 地址", en: "must be an http, https, socks5 or socks4 address" };
    }
  }
}

/** The declared members of a stored object that do not fit. */
export function settingProblems(stored: Readonly<Record<string, unknown>>): { name: SettingName; problem: Text }[] {
  return settingNames.flatMap((name) => {
    const problem = settingProblem(name, Object.hasOwn(stored, name) ? stored[name] : undefined);
    return problem ? [{ name, problem }] : [];
  });
}

/**
 * A stored object as the relay reads it. A member that does not fit counts as not set and goes to `report`; but an
 * invalid proxy stays, so that calls fail instead of bypassing it.
 */
export function readSetting(
  stored: Readonly<Record<string, unknown>>,
  report: (problem: string) => void,
): ChannelSetting {
  const read: Record<string, unknown> = { ...stored };
  for (const { name, problem } of settingProblems(stored)) {
    report(`setting.${name} ${problem.en}`);
    if (settingMembers[name].kind === "proxy") read[name] = String(stored[name]);
    else delete read[name];
  }
  for (const name of settingNames) if (read[name] === null || read[name] === "") delete read[name];
  return read as ChannelSetting; // declared members were checked above
}
