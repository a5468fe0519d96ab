import { useLingui } from "@lingui/react/macro";
import { useState, type FormEvent } from "react";
import { errorText } from "../../../shared/errors";
import { USERNAME_MAX } from "../../../shared/user";
import { FieldFrame, FormRow } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { currentUser, storeUser } from "../../lib/session";
import { toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Input } from "../../ui/input";
import { Skeleton } from "../../ui/skeleton";
import { Problem } from "../auth/problem";

/** The own name and display name. */
export default function ProfileCard() {
  const { t } = useLingui();
  const self = trpc.user.self.useQuery(undefined, { meta: { quiet: true } });
  return (
    <Card>
      <CardHeader title={t`个人资料`} />
      <CardBody>
        {self.data ? (
          <ProfileForm key={self.data.username} username={self.data.username} display_name={self.data.display_name} />
        ) : (
          <Skeleton className="h-24" />
        )}
      </CardBody>
    </Card>
  );
}

function ProfileForm(stored: { username: string; display_name: string }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const [values, setValues] = useState(stored);
  const [problem, setProblem] = useState<string>();
  const saving = trpc.user.updateSelf.useMutation({
    meta: { quiet: true },
    onSuccess: (_, sent) => {
      toastSuccess(t`用户信息更新成功！`);
      const user = currentUser();
      if (user)
        storeUser({
          ...user,
          username: sent.username ?? user.username,
          display_name: sent.display_name ?? user.display_name,
        });
      void utils.user.self.invalidate();
    },
    onError: (error) => setProblem(faultOf(error).message),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (saving.isPending) return;
    const username = values.username.trim();
    const display_name = values.display_name.trim();
    const fits = username !== "" && [...username].length <= USERNAME_MAX;
    setProblem(fits ? undefined : errorText("username_length", { max: USERNAME_MAX }, currentLanguage()));
    if (!fits) return;
    if (username === stored.username && display_name === stored.display_name) return toastInfo(t`没有任何修改！`);
    saving.mutate({ username, display_name });
  };
  return (
    <form noValidate onSubmit={submit} className="grid gap-4">
      <FormRow>
        <FieldFrame id="profile-username" label={t`用户名`} hint={t`最多 ${USERNAME_MAX} 个字符`}>
          <Input
            id="profile-username"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            value={values.username}
            onChange={(event) => setValues({ ...values, username: event.currentTarget.value })}
          />
        </FieldFrame>
        <FieldFrame id="profile-display" label={t`显示名称`}>
          <Input
            id="profile-display"
            autoComplete="nickname"
            maxLength={50}
            value={values.display_name}
            onChange={(event) => setValues({ ...values, display_name: event.currentTarget.value })}
          />
        </FieldFrame>
      </FormRow>
      <Problem>{problem}</Problem>
      <Button type="submit" loading={saving.isPending} className="justify-self-start">{t`保存`}</Button>
    </form>
  );
}
