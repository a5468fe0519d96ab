import { useLingui } from "@lingui/react/macro";
import { ArrowLeft, Building2, CircleAlert, Database, User, Users } from "lucide-react";
import { useState, type FormEvent } from "react";
import type { SetupMode } from "../../../shared/user";
import { FieldFrame } from "../../components/form-field";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { RadioCards } from "../../ui/radio-cards";
import { StepFrame } from "./step-frame";

export interface Purpose {
  mode: SetupMode;
  server_address: string;
}

type PurposeStepProps = {
  start: Purpose;
  sqlite: boolean;
  busy: boolean;
  /** What the server said to the last try. */
  problem: string | null;
  onChange: (purpose: Purpose) => void;
  onBack: () => void;
  onDone: (purpose: Purpose) => void;
};

/** Step 2: what the gateway is for and where it is reached; ends with the account being made. */
export function PurposeStep({ start, sqlite, busy, problem, onChange, onBack, onDone }: PurposeStepProps) {
  const { t } = useLingui();
  const [purpose, setPurpose] = useState(start);
  const [addressProblem, setAddressProblem] = useState<string | undefined>();
  const change = (part: Partial<Purpose>) => {
    setPurpose({ ...purpose, ...part });
    onChange({ ...purpose, ...part });
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    const server_address = purpose.server_address.trim().replace(/\/+$/, "");
    if (server_address !== "" && !isHttpAddress(server_address)) {
      setAddressProblem(t`请输入以 http:// 或 https:// 开头的地址`);
      return;
    }
    setAddressProblem(undefined);
    onDone({ ...purpose, server_address });
  };

  const icon = "mt-0.5 size-4 shrink-0 text-accent-text";
  return (
    <StepFrame step="purpose" title={t`你打算怎么用？`} description={t`只决定初始设置，之后都可以在系统设置里修改。`}>
      <form noValidate onSubmit={submit} className="grid gap-5">
        <RadioCards<SetupMode>
          aria-label={t`用途`}
          value={purpose.mode}
          onValueChange={(mode) => change({ mode })}
          className="grid-cols-1 sm:grid-cols-3"
          cards={[
            {
              value: "self",
              title: t`自用`,
              description: t`只有你一个人使用：关闭注册，没有设置价格的模型也能调用。`,
              icon: <User aria-hidden className={icon} />,
            },
            {
              value: "team",
              title: t`团队`,
              description: t`成员由管理员添加：关闭注册，按人统计用量与费用。`,
              icon: <Users aria-hidden className={icon} />,
            },
            {
              value: "public",
              title: t`对外运营`,
              description: t`任何人都可以注册，按价格计费；没有价格的模型不能调用。`,
              icon: <Building2 aria-hidden className={icon} />,
            },
          ]}
        />
        <FieldFrame
          id="setup-address"
          label={t`服务器地址`}
          hint={t`客户端访问网关的地址，已按当前页面填好；用在接入说明和回调链接里。`}
          error={addressProblem}
        >
          <Input
            id="setup-address"
            type="url"
            inputMode="url"
            spellCheck={false}
            value={purpose.server_address}
            onChange={(event) => change({ server_address: event.target.value })}
            aria-describedby={`setup-address-hint${addressProblem ? " setup-address-error" : ""}`}
            aria-invalid={addressProblem ? true : undefined}
            className="font-mono"
          />
        </FieldFrame>
        {sqlite ? (
          <p className="flex gap-2 rounded-lg border border-line bg-surface px-3 py-2 text-ink-2">
            <Database aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
            {t`数据保存在数据目录中的 SQLite 文件里。在容器中运行时请把该目录挂载为持久卷，否则重建容器会丢失全部数据。`}
          </p>
        ) : null}
        {problem ? (
          <p role="alert" className="flex gap-2 text-red-fg">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {problem}
          </p>
        ) : null}
        <div className="flex justify-between gap-2">
          <Button size="lg" onClick={onBack} disabled={busy}>
            <ArrowLeft aria-hidden />
            {t`上一步`}
          </Button>
          <Button type="submit" variant="primary" size="lg" loading={busy}>
            {t`创建账户并继续`}
          </Button>
        </div>
      </form>
    </StepFrame>
  );
}

function isHttpAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
