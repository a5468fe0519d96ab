import { useLingui } from "@lingui/react/macro";
import { Link } from "wouter";
import { findRoute } from "../routes";
import { Button } from "../ui/button";

/** True when the sign-in page is part of this build. */
export function loginExists(): boolean {
  return findRoute("/login") !== null;
}

/** Sign-in and registration, for strangers; each only when its page exists. */
export function SignInLinks() {
  const { t } = useLingui();
  return (
    <>
      {loginExists() ? (
        <Button asChild>
          <Link href="/login">{t`登录`}</Link>
        </Button>
      ) : null}
      {findRoute("/register") ? (
        <Button asChild variant="primary" className="max-sm:hidden">
          <Link href="/register">{t`注册`}</Link>
        </Button>
      ) : null}
    </>
  );
}
