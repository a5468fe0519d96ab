import { useLingui } from "@lingui/react/macro";
import { useId } from "react";
import { useForm } from "react-hook-form";
import { ROLE } from "../../../shared/roles";
import { USER_LIMITS, userCreate } from "../../../shared/user-manage";
import { PASSWORD_MAX, USERNAME_MAX } from "../../../shared/user";
import { FormField, FormStack } from "../../components/form-field";
import { useHasRole } from "../../lib/session";
import { useOnce, useOpening } from "../../lib/once";
import { toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";
import { schemaResolver } from "./user-values";

interface NewUser {
  username: string;
  display_name: string;
  password: string;
  role: string;
}
const empty: NewUser = { username: "", display_name: "", password: "", role: String(ROLE.user) };

/** The form for a new account; its role is below the administrator's. */
export function UserNew({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const formId = useId();
  const root = useHasRole(ROLE.root);
  const utils = trpc.useUtils();
  const opening = useOpening();
  const create = trpc.user.create.useMutation({ trpc: opening });
  const { control, handleSubmit } = useForm<NewUser>({
    defaultValues: empty,
    resolver: schemaResolver(userCreate, (values) => ({ ...values, role: Number(values.role) })),
    mode: "onTouched",
  });
  const save = handleSubmit(async ({ role, ...fields }) => {
    try {
      await create.mutateAsync({ ...fields, role: Number(role) === ROLE.admin ? ROLE.admin : ROLE.user });
      toastSuccess(t`用户账户创建成功！`);
      void utils.user.list.invalidate();
      onClose();
    } catch {
      // The query client shows the error; the form keeps what was typed.
    }
  });
  const submit = useOnce(save);

  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(open) => !open && onClose()}
      title={t`添加用户`}
      footer={
        <>
          <span className="mr-auto" />
          <Button onClick={onClose}>{t`取消`}</Button>
          <Button type="submit" form={formId} variant="primary" loading={create.isPending}>{t`创建`}</Button>
        </>
      }
    >
      <form
        id={formId}
        noValidate
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <FormStack>
          <FormField control={control} name="username" label={t`用户名`} required errorValues={{ max: USERNAME_MAX }}>
            {(field) => <Input {...field.input} autoComplete="off" />}
          </FormField>
          <FormField control={control} name="display_name" label={t`显示名称`} hint={t`留空则与用户名相同`}>
            {(field) => <Input {...field.input} autoComplete="off" maxLength={USER_LIMITS.display_name} />}
          </FormField>
          <FormField
            control={control}
            name="password"
            label={t`密码`}
            required
            hint={t`最短 8 位`}
            errorValues={{ max: PASSWORD_MAX }}
          >
            {(field) => <Input {...field.input} type="password" autoComplete="new-password" />}
          </FormField>
          {root ? (
            <FormField control={control} name="role" label={t`角色`}>
              {(field) => (
                <Select
                  {...field.control}
                  options={[
                    { value: String(ROLE.user), label: t`普通用户` },
                    { value: String(ROLE.admin), label: t`管理员` },
                  ]}
                />
              )}
            </FormField>
          ) : null}
        </FormStack>
      </form>
    </Drawer>
  );
}
