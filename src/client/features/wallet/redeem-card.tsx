import { useLingui } from "@lingui/react/macro";
import { ExternalLink } from "lucide-react";
import { useId, useState } from "react";
import { errorText } from "../../../shared/errors";
import { bareCode } from "../../../shared/redemption";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { useStatus } from "../../lib/status";
import { useOnce } from "../../lib/once";
import { toastError, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Input } from "../../ui/input";

/** A field for a redemption code and the way to get one. */
export function RedeemCard() {
  const { t } = useLingui();
  const id = useId();
  const utils = trpc.useUtils();
  const link = useStatus().top_up_link ?? "";
  const [code, setCode] = useState("");
  const [complaint, setComplaint] = useState<string>();
  // What the server says against it is shown at the field.
  const redeeming = trpc.redemption.redeem.useMutation({ meta: { quiet: true } });

  const submit = useOnce(async () => {
    if (bareCode(code) === "") {
      setComplaint(errorText("redemption_key_missing", {}, currentLanguage()));
      return;
    }
    setComplaint(undefined);
    try {
      const amount = quotaText(await redeeming.mutateAsync({ key: code }));
      setCode("");
      toastSuccess(t`兑换成功，到账 ${amount}`);
      void utils.user.self.invalidate();
    } catch (error) {
      const fault = faultOf(error);
      setComplaint(fault.kind === "refused" ? fault.message : t`请求失败`);
    }
  });

  return (
    <Card>
      <CardHeader
        title={t`兑换码`}
        actions={
          link ? (
            <Button asChild>
              <a href={link} target="_blank" rel="noopener noreferrer">
                <ExternalLink aria-hidden />
                {t`获取兑换码`}
              </a>
            </Button>
          ) : (
            <Button onClick={() => toastError(t`超级管理员未设置充值链接！`)}>
              <ExternalLink aria-hidden />
              {t`获取兑换码`}
            </Button>
          )
        }
      />
      <CardBody>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
          className="flex items-start gap-2"
        >
          <FieldFrame id={id} label={t`输入兑换码`} error={complaint} className="min-w-0 flex-1">
            <Input
              id={id}
              value={code}
              onChange={(event) => {
                setCode(event.target.value);
                setComplaint(undefined);
              }}
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={200}
              placeholder={t`粘贴 32 位兑换码`}
              aria-invalid={complaint ? true : undefined}
              aria-describedby={complaint ? `${id}-error` : undefined}
              className="font-mono"
            />
          </FieldFrame>
          <Button type="submit" variant="primary" loading={redeeming.isPending} className="mt-6">
            {t`兑换`}
          </Button>
        </form>
      </CardBody>
    </Card>
  );
}
