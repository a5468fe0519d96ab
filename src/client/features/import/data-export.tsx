import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { downloadAnswer } from "../../lib/download";
import { reportError } from "../../lib/errors";
import { withStepUp } from "../../lib/step-up";
import { toastInfo } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";

/** The whole of the data as one file, which `weir import` reads. */
export function DataExport() {
  const { t } = useLingui();
  const [running, setRunning] = useState(false);
  const save = async (): Promise<void> => {
    setRunning(true);
    try {
      const name = await withStepUp(() => downloadAnswer("/api/export", "weir.jsonl"));
      toastInfo(t`已导出 ${name}`);
    } catch (error) {
      reportError(error);
    } finally {
      setRunning(false);
    }
  };
  return (
    <Card id="export" className="mt-4 w-full max-w-[720px] lg:ml-58">
      <CardHeader
        title={t`导出数据`}
        description={t`用户、余额、令牌、渠道、未使用的兑换码与设置，保存为 weir import 可以读取的 JSON Lines 文件。`}
      />
      <CardBody className="grid justify-items-start gap-3">
        <p className="text-sm text-muted">{t`文件包含明文密钥，请妥善保管；每次导出都会写入审计日志。会话、两步验证、通行密钥、系统访问令牌与日志不包含在内。`}</p>
        <Button loading={running} onClick={() => void save()}>{t`导出`}</Button>
      </CardBody>
    </Card>
  );
}
