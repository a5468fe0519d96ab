import { useLingui } from "@lingui/react/macro";
import { ErrorBoundary } from "../../components/error-boundary";
import { WhileLoading } from "../../lib/lazy";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { bindings } from "./bindings";

/** Other ways to sign in: an e-mail address, accounts at identity providers. */
export default function BindingsCard() {
  const { t } = useLingui();
  return (
    <Card>
      <CardHeader title={t`账号绑定`} description={t`用于登录、找回密码和接收通知。`} />
      <CardBody>
        <ul className="divide-y divide-line">
          {bindings.map(({ id, component: Row }) => (
            <ErrorBoundary key={id}>
              <WhileLoading
                show={
                  <li>
                    <Skeleton className="h-10" />
                  </li>
                }
              >
                <Row />
              </WhileLoading>
            </ErrorBoundary>
          ))}
        </ul>
      </CardBody>
    </Card>
  );
}
