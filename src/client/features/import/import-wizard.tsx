import { useLingui } from "@lingui/react/macro";
import { type ReactNode, useId, useState } from "react";
import { CodeBlock } from "../../ui/code-block";
import { Label } from "../../ui/label";
import { Select } from "../../ui/select";
import { importCommands, KEPT_LOGS, type KeptLogs, SOURCE_KINDS, type SourceKind } from "./commands";

/** The steps of moving in, with the commands for one's own source. */
export function ImportWizard() {
  const { t } = useLingui();
  const [kind, setKind] = useState<SourceKind>("sqlite");
  const [logs, setLogs] = useState<KeptLogs>("none");
  const kinds: Record<SourceKind, string> = {
    sqlite: t`SQLite 文件`,
    mysql: t`MySQL 或 MariaDB`,
    postgres: t`PostgreSQL`,
    config: t`LiteLLM 的 config.yaml`,
    export: t`weir export 的文件`,
  };
  const kept: Record<KeptLogs, string> = {
    none: t`只保留汇总`,
    "90d": t`保留最近 90 天的日志`,
    all: t`保留全部日志`,
  };
  const commands = importCommands(kind, logs);
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <Choice<SourceKind> label={t`数据所在`} value={kind} onChange={setKind} values={SOURCE_KINDS} names={kinds} />
        <Choice<KeptLogs> label={t`使用日志`} value={logs} onChange={setLogs} values={KEPT_LOGS} names={kept} />
      </div>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <Step title={t`1. 试运行`} code={commands.look}>
          {t`原网关可以继续服务。命令只读取，列出每张表会变成什么、每个模型的新旧价格、余额合计，以及没有带走的内容。需要决定时退出码为 2，并在末尾打印一份决定文件：存为 decisions.json，按需修改。`}
        </Step>
        <Step title={t`2. 迁移`} code={commands.run}>
          {t`先停止原网关和 Weir。没有决定文件时去掉 --decisions。可以随时中断，再次运行会从中断处继续；重复运行只带走之后的变化。渠道先停用；加上 --live 则保持原状态。`}
        </Step>
        <Step title={t`3. 核对`} code={commands.check}>
          {t`账目应当平衡。然后启动 Weir，在渠道页用“批量操作”选择渠道并测试，启用有应答的渠道，再把域名指过来。密码、令牌和邀请码不变。`}
        </Step>
      </ol>
      <p className="text-sm text-muted">{t`命令需要与服务器相同的环境变量。用 Docker 时，以同一镜像和同一数据卷运行，例如：docker run --rm -v weir-data:/data weir audit`}</p>
    </>
  );
}

function Choice<Value extends string>({
  label,
  value,
  onChange,
  values,
  names,
}: {
  label: string;
  value: Value;
  onChange(value: Value): void;
  values: readonly Value[];
  names: Readonly<Record<Value, string>>;
}) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <Label htmlFor={id}>{label}</Label>
      <Select
        id={id}
        value={value}
        onValueChange={(chosen) => {
          const found = values.find((one) => one === chosen);
          if (found) onChange(found);
        }}
        options={values.map((one) => ({ value: one, label: names[one] }))}
      />
    </div>
  );
}

function Step({ title, code, children }: { title: string; code: string; children: ReactNode }) {
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-1">
      <h3 className="font-medium">{title}</h3>
      <p className="text-sm text-muted">{children}</p>
      <CodeBlock label={title} code={code} />
    </li>
  );
}
