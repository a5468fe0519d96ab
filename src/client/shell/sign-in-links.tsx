import { useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import { useStatus } from "../lib/status";
import { findRoute } from "../routes";
import { Button } from "../ui/button";

/** True when the sign-in page is part of this build. */
export function loginExists(): boolean {
  return findRoute("/login") !== null;
}

/** Sign-in and, while it is open, registration, for strangers. */
export function SignInLinks() {
  const { t } = useLingui();
  const register = useStatus().register_enabled !== false;
  return (
    <>
      {loginExists() ? (
        <Button asChild>
          <Link href="/login">{t`登录`}</Link>
        </Button>
      ) : null}
      {register ? (
        <Button asChild variant="primary" className="max-sm:hidden">
          <Link href="/register">{t`注册`}</Link>
        </Button>
      ) : null}
    </>
  );
}
