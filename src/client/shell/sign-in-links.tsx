import { useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import { useStatus } from "../lib/status";
import { Button } from "../ui/button";

/** Sign-in and, while it is open, registration, for strangers. */
export function SignInLinks() {
  const { t } = useLingui();
  const { setup, register_enabled } = useStatus();
  // Before the first account is made, there is nothing to sign in to.
  if (setup === false) return null;
  const register = register_enabled !== false;
  return (
    <>
      <Button asChild>
        <Link href="/login">{t`登录`}</Link>
      </Button>
      {register ? (
        <Button asChild variant="primary" className="max-sm:hidden">
          <Link href="/register">{t`注册`}</Link>
        </Button>
      ) : null}
    </>
  );
}
