import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { FormProvider, useForm, useFormContext, useWatch } from "react-hook-form";
import { type ManagedUser, USER_LIMITS, userUpdate } from "../../../shared/user-manage";
import { ROLE } from "../../../shared/roles";
import { PASSWORD_MAX, USERNAME_MAX } from "../../../shared/user";
import { FormField, FormStack } from "../../components/form-field";
import { Quota } from "../../components/quota";
import { roleLooks } from "../../components/status";
import { StatusBadge } from "../../components/status-badge";
import { faultOf } from "../../lib/errors";
import { useHasRole } from "../../lib/session";
import { useOnce } from "../../lib/once";
import { toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { randomId } from "../../lib/random-id";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Input } from "../../ui/input";
import { Select } from "../../ui/select";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { LimitFields } from "../token/limit-fields";
import { QuotaField } from "../../components/quota-field";
import { useRefusal, useUserActions } from "./user-actions";
import { UserAccess } from "./user-access";
import { UserState } from "./user-columns";
import { UserLedger } from "./user-ledger";
import { changeOf, schemaResolver, valuesOf, type UserValues } from "./user-values";

/** All about a stored account: the form, what is bound, and its ledger. */
export function UserEdit({ user, onClose }: { user: ManagedUser; onClose: () => void }) {
  const { t } = useLingui();
  const formId = useId();
  const { id, username } = user;
  // What was there when the form was opened: only what differs from it is sent.
  const [before] = useState(() => valuesOf(user));
  const [tab, setTab] = useState("profile");
  const [key, setKey] = useState(randomId);
  const { adopt, erase } = useUserActions();
  // A deleted account has no actions in the list; what is left of the person is removed here.
  const erasable = useHasRole(ROLE.root) && user.DeletedAt !== null;
  const utils = trpc.useUtils();
  const update = trpc.user.update.useMutation();
  const refusal = useRefusal()(user, "update");
  const form = useForm<UserValues>({
    defaultValues: before,
    resolver: schemaResolver(userUpdate, (values) => changeOf(id, before, values, key) ?? { id }),
    mode: "onTouched",
  });
  const save = form.handleSubmit(async (values) => {
    const change = changeOf(id, before, values, key);
    if (!change) {
      toastInfo(t`你似乎并没有修改什么`);
      return;
    }
    try {
      adopt(await update.mutateAsync(change));
      toastSuccess(t`用户信息更新成功！`);
      void utils.user.credits.invalidate({ id });
      onClose();
    } catch (error) {
      // The query client shows the error. After a refusal the next press is a new adjustment; after a lost response it
      // is the same one.
      if (faultOf(error).kind === "refused") setKey(randomId());
    }
  });
  const submit = useOnce(save);

  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(open) => !open && onClose()}
      title={username}
      headerExtra={
        <>
          <StatusBadge table={roleLooks} value={user.role} />
          <UserState user={user} />
        </>
      }
      footer={
        refusal === undefined && tab !== "profile" ? null : refusal === undefined ? (
          <>
            <span className="mr-auto" />
            <Button onClick={onClose}>{t`取消`}</Button>
            <Button type="submit" form={formId} variant="primary" loading={update.isPending}>{t`保存`}</Button>
          </>
        ) : (
          <>
            <p role="status" className="mr-auto text-ink-2">
              {refusal}
            </p>
            {erasable ? <Button variant="danger" onClick={() => void erase(user)}>{t`清除个人数据`}</Button> : null}
          </>
        )
      }
    >
      <Tabs value={tab} onValueChange={setTab}>
        <TabsList aria-label={t`用户`}>
          <TabsTrigger value="profile">{t`资料`}</TabsTrigger>
          <TabsTrigger value="bindings">{t`账号绑定`}</TabsTrigger>
          <TabsTrigger value="ledger">{t`额度流水`}</TabsTrigger>
        </TabsList>
        <TabsContent value="profile" forceMount className="data-[state=inactive]:hidden">
          <FormProvider {...form}>
            <form
              id={formId}
              noValidate
              autoComplete="off"
              onSubmit={(event) => {
                event.preventDefault();
                void submit();
              }}
            >
              <fieldset disabled={refusal !== undefined}>
                <ProfileFields balance={user.quota} />
              </fieldset>
            </form>
          </FormProvider>
        </TabsContent>
        <TabsContent value="bindings">
          <UserAccess user={user} refusal={refusal} />
        </TabsContent>
        <TabsContent value="ledger">
          <UserLedger id={id} />
        </TabsContent>
      </Tabs>
    </Drawer>
  );
}

function ProfileFields({ balance }: { balance: number }) {
  const { t } = useLingui();
  const { control } = useFormContext<UserValues>();
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000 });
  const group = useWatch({ control, name: "group" });
  const names = [...new Set([...(groups.data ?? []), group])];
  const added = useWatch({ control, name: "add_quota" }) ?? 0;
  return (
    <FormStack>
      <FormField control={control} name="username" label={t`用户名`} required errorValues={{ max: USERNAME_MAX }}>
        {(field) => <Input {...field.input} autoComplete="off" />}
      </FormField>
      <FormField control={control} name="display_name" label={t`显示名称`}>
        {(field) => <Input {...field.input} autoComplete="off" maxLength={USER_LIMITS.display_name} />}
      </FormField>
      <FormField
        control={control}
        name="password"
        label={t`新密码`}
        hint={t`最短 8 位；留空则不修改。修改后该用户的登录和系统访问令牌全部失效。`}
        errorValues={{ max: PASSWORD_MAX }}
      >
        {(field) => <Input {...field.input} type="password" autoComplete="new-password" />}
      </FormField>
      <FormField control={control} name="group" label={t`分组`}>
        {(field) => <Select {...field.control} options={names.map((name) => ({ value: name, label: name }))} />}
      </FormField>
      <dl className="flex flex-wrap gap-x-6 gap-y-1 rounded-md bg-sunken px-3 py-2">
        <div className="flex gap-2">
          <dt className="text-ink-2">{t`剩余额度`}</dt>
          <dd>
            <Quota value={balance} />
          </dd>
        </div>
        <div className="flex gap-2" aria-live="polite">
          <dt className="text-ink-2">{t`调整后`}</dt>
          <dd>
            <Quota value={balance + added} />
          </dd>
        </div>
      </dl>
      <FormField
        control={control}
        name="add_quota"
        label={t`添加额度`}
        hint={t`负数为扣减；记为一笔流水，不会覆盖正在进行的消费。`}
      >
        {(field) => <QuotaField {...field.control} min={-USER_LIMITS.quota} />}
      </FormField>
      <FormField control={control} name="note" label={t`调整原因`}>
        {(field) => <Input {...field.input} maxLength={USER_LIMITS.note} />}
      </FormField>
      <LimitFields />
    </FormStack>
  );
}
