import { useLingui } from "@lingui/react/macro";
import { keepPreviousData } from "@tanstack/react-query";
import { useId, useState } from "react";
import { DRY_RUN_ENDPOINTS } from "../../../shared/dry-run";
import { AUTO_GROUP } from "../../../shared/group";
import { ErrorPanel } from "../../components/error-panel";
import { FieldFrame } from "../../components/form-field";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Combobox } from "../../ui/combobox";
import { Dialog } from "../../ui/dialog";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";
import { Select } from "../../ui/select";
import { Skeleton } from "../../ui/skeleton";
import { SwitchField } from "../../ui/switch";
import { DryRunResult } from "./dry-run-result";

interface Question {
  model: string;
  endpoint: string;
  stream: boolean;
  group: string | null;
  token_id: number | null;
  user_id: number | null;
  cache_key: string;
}

const endpoints = DRY_RUN_ENDPOINTS.map((endpoint) => ({ value: endpoint, label: endpoint }));
const isId = (id: number | null): boolean => id === null || (Number.isSafeInteger(id) && id >= 0);

/** Shows which channels a call would be routed to, and why, without calling an upstream. */
export function DryRunDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const [question, setQuestion] = useState<Question>({
    model: "",
    endpoint: DRY_RUN_ENDPOINTS[0],
    stream: false,
    group: null,
    token_id: null,
    user_id: null,
    cache_key: "",
  });
  const [asked, setAsked] = useState<Question>();
  const input = {
    ...(asked ?? question),
    group: asked?.group ?? "",
    token_id: asked?.token_id ?? 0,
    user_id: asked?.user_id ?? 0,
  };
  const query = trpc.channel.dryRun.useQuery(input, {
    enabled: asked !== undefined,
    staleTime: 0,
    retry: false,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  });
  const set = (change: Partial<Question>) => setQuestion((known) => ({ ...known, ...change }));
  const ready = question.model.trim() !== "" && isId(question.token_id) && isId(question.user_id);

  const submit = () => {
    if (!ready) return;
    const next = { ...question, model: question.model.trim() };
    // Never cached: cooldowns change by the second.
    if (asked && JSON.stringify(next) === JSON.stringify(asked)) void query.refetch();
    else setAsked(next);
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t`路由预演`}
      description={t`查看一次调用会发往哪个渠道以及原因；不会真正发出请求。`}
      className="w-[min(820px,calc(100vw-32px))]"
      footer={
        <>
          <Button onClick={onClose}>{t`关闭`}</Button>
          <Button
            type="submit"
            form={`${id}-form`}
            variant="primary"
            disabled={!ready}
            loading={query.isFetching}
          >{t`查看去向`}</Button>
        </>
      }
    >
      <form
        id={`${id}-form`}
        noValidate
        className="grid gap-3 pt-3 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <QuestionFields id={id} question={question} onChange={set} />
      </form>
      <div className="mt-4" aria-live="polite">
        {query.error ? (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : query.data ? (
          <DryRunResult run={query.data} />
        ) : asked ? (
          <Skeleton className="h-32 rounded-lg" />
        ) : null}
      </div>
    </Dialog>
  );
}

type QuestionFieldsProps = {
  /** Of the form; the fields' ids begin with it. */
  id: string;
  question: Question;
  onChange: (change: Partial<Question>) => void;
};

function QuestionFields({ id, question, onChange: set }: QuestionFieldsProps) {
  const { t } = useLingui();
  const models = trpc.channel.modelsEnabled.useQuery(undefined, { staleTime: 60_000, meta: { quiet: true } });
  // These have the virtual models too.
  const own = trpc.group.models.useQuery({}, { staleTime: 60_000, meta: { quiet: true } });
  const groups = trpc.group.list.useQuery(undefined, { staleTime: 60_000, meta: { quiet: true } });
  const names = [...(groups.data ?? []), AUTO_GROUP].map((name) => ({ value: name, label: name }));
  return (
    <>
      <FieldFrame id={`${id}-model`} label={t`模型`} required>
        <Input
          id={`${id}-model`}
          autoFocus
          autoComplete="off"
          maxLength={255}
          list={`${id}-models`}
          placeholder="gpt-4o"
          value={question.model}
          onChange={(event) => set({ model: event.target.value })}
        />
        <datalist id={`${id}-models`}>
          {[...new Set([...(models.data ?? []), ...(own.data ?? [])])].map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </FieldFrame>
      <FieldFrame id={`${id}-endpoint`} label={t`接口`}>
        <Select
          id={`${id}-endpoint`}
          className="w-full"
          value={question.endpoint}
          onValueChange={(endpoint) => set({ endpoint })}
          options={endpoints}
        />
      </FieldFrame>
      <FieldFrame id={`${id}-group`} label={t`分组`} hint={t`留空则取令牌或用户的分组`}>
        <Combobox
          id={`${id}-group`}
          clearable
          value={question.group}
          onValueChange={(group) => set({ group })}
          options={names}
        />
      </FieldFrame>
      <FieldFrame id={`${id}-key`} label={t`会话标识`} hint={t`prompt_cache_key 或 user，用于查看会话保持`}>
        <Input
          id={`${id}-key`}
          autoComplete="off"
          maxLength={1000}
          value={question.cache_key}
          onChange={(event) => set({ cache_key: event.target.value })}
        />
      </FieldFrame>
      <FieldFrame id={`${id}-token`} label={t`令牌 ID`} hint={t`留空则不按令牌检查`}>
        <NumberField
          id={`${id}-token`}
          min={0}
          step={1}
          value={question.token_id}
          onValueChange={(token_id) => set({ token_id })}
        />
      </FieldFrame>
      <FieldFrame id={`${id}-user`} label={t`用户 ID`} hint={t`留空则为你自己`}>
        <NumberField
          id={`${id}-user`}
          min={0}
          step={1}
          value={question.user_id}
          onValueChange={(user_id) => set({ user_id })}
        />
      </FieldFrame>
      <SwitchField label={t`流式输出`} checked={question.stream} onCheckedChange={(stream) => set({ stream })} />
    </>
  );
}
