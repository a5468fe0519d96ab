import { useLingui } from "@lingui/react/macro";
import { CircleAlert, CircleCheck, Info, Plug } from "lucide-react";
import { useId, useRef, useState, type FormEvent } from "react";
import { baseUrlProblem, keyProblem, otherProblem, type ChannelType } from "../../../shared/channel-types";
import { errorText } from "../../../shared/errors";
import { FieldFrame } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { formatMilliseconds } from "../../lib/format";
import { currentLanguage } from "../../lib/i18n";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Collapsible } from "../../ui/collapsible";
import { Input, Textarea } from "../../ui/input";
import { TokenInput } from "../../ui/token-input";
import { PasswordInput } from "../auth/password-input";
import { preselect } from "./channel-choice";

/** What the last try of the connection said. */
type Trial =
  | { kind: "listed"; milliseconds: number; count: number }
  /** The list cannot be asked for before the channel is saved; saving tests it by a real call. */
  | { kind: "on-save" }
  | { kind: "failed"; message: string };

type Problems = Partial<Record<"key" | "base_url" | "other" | "models", string>>;

/** The few fields that a first channel of this type needs; the rest keeps its defaults. */
export function ChannelForm({ type, onDone, onLater }: { type: ChannelType; onDone: () => void; onLater: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const language = currentLanguage();
  const [fields, setFields] = useState({ key: "", base_url: "", other: type.other?.default ?? "" });
  const [models, setModels] = useState<string[]>([...type.models]);
  const [offered, setOffered] = useState<readonly string[]>(type.models);
  const [problems, setProblems] = useState<Problems>({});
  const [trial, setTrial] = useState<Trial | null>(null);
  /** Set once the channel is stored: a further try changes it instead of making another. */
  const [savedId, setSavedId] = useState<number | null>(null);
  const [modelsOpen, setModelsOpen] = useState(false);
  const [addressOpen, setAddressOpen] = useState(false);
  const [saveProblem, setSaveProblem] = useState<string | null>(null);
  const pasted = useRef(false);

  const list = trpc.channel.fetchModelsFrom.useMutation({ meta: { quiet: true } });
  const create = trpc.channel.create.useMutation({ meta: { quiet: true } });
  const update = trpc.channel.update.useMutation({ meta: { quiet: true } });
  const test = trpc.channel.test.useMutation({ meta: { quiet: true } });
  const saving = create.isPending || update.isPending || test.isPending;

  const check = (of: typeof fields): Problems => ({
    ...text(
      "key",
      type.key_format.optional && of.key.trim() === "" ? undefined : keyProblem(type.id, of.key)?.[language],
    ),
    ...text("base_url", baseUrlProblem(type.id, of.base_url)?.[language]),
    ...text("other", otherProblem(type.id, of.other)?.[language]),
  });

  const tryConnection = async (of: typeof fields) => {
    const found = check(of);
    setProblems(found);
    if (Object.keys(found).length > 0 || list.isPending) return;
    if (!type.fetch_models) return setTrial({ kind: "on-save" });
    setTrial(null);
    const started = performance.now();
    try {
      const names = await list.mutateAsync({ type: type.id, key: of.key.trim(), base_url: of.base_url.trim() });
      setTrial({ kind: "listed", milliseconds: performance.now() - started, count: names.length });
      setOffered([...new Set([...names, ...type.models])]);
      if (names.length > 0) setModels(preselect(type.models, names));
    } catch (error) {
      // Addresses inside the own network may only be called as a channel, which this is not yet.
      if (appCode(error) === "address_forbidden") setTrial({ kind: "on-save" });
      else setTrial({ kind: "failed", message: faultOf(error).message });
    }
  };

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (saving) return;
    const found = {
      ...check(fields),
      ...text("models", models.length === 0 ? errorText("channel_models_missing", {}, language) : undefined),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setSaveProblem(null);
    const values = { ...fields, key: fields.key.trim(), type: type.id, name: type.name[language], models };
    try {
      const channel =
        savedId === null ? (await create.mutateAsync(values))[0] : await update.mutateAsync({ ...values, id: savedId });
      if (!channel) return;
      setSavedId(channel.id);
      const result = await test.mutateAsync({ id: channel.id });
      if (result.success) onDone();
      else setSaveProblem(result.message);
    } catch (error) {
      setSaveProblem(faultOf(error).message);
    }
  };

  const change = (part: Partial<typeof fields>) => {
    const next = { ...fields, ...part };
    setFields(next);
    setTrial(null);
    if (pasted.current && part.key !== undefined && keyProblem(type.id, part.key) === undefined)
      void tryConnection(next);
    pasted.current = false;
  };
  const wiring = (field: keyof Problems) => ({
    id: `${id}-${field}`,
    "aria-describedby": [`${id}-${field}-hint`, problems[field] ? `${id}-${field}-error` : ""].join(" ").trim(),
    "aria-invalid": problems[field] ? true : undefined,
  });
  const keyWiring = { ...wiring("key"), value: fields.key, onPaste: () => (pasted.current = true) };

  // Where the operator runs the upstream himself its address comes first; elsewhere it is an exception.
  const addressFirst = type.base_url_field.required || type.base_url.includes("//localhost");
  const address = (
    <FieldFrame
      id={`${id}-base_url`}
      label={type.base_url_field.label[language]}
      hint={type.base_url_field.hint?.[language] ?? (type.base_url ? t`留空使用默认地址` : undefined)}
      error={problems.base_url}
      required={type.base_url_field.required}
    >
      <Input
        {...wiring("base_url")}
        type="url"
        inputMode="url"
        spellCheck={false}
        placeholder={type.base_url}
        value={fields.base_url}
        onChange={(event) => change({ base_url: event.target.value })}
        className="font-mono"
      />
    </FieldFrame>
  );

  return (
    <form noValidate onSubmit={save} className="grid gap-4 border-t border-line pt-5">
      {addressFirst ? address : null}
      <FieldFrame
        id={`${id}-key`}
        label={t`密钥`}
        hint={
          type.key_format.optional
            ? t`${type.key_format.hint[language]}，可以不填`
            : t`格式：${type.key_format.hint[language]}`
        }
        error={problems.key}
        required={!type.key_format.optional}
      >
        {type.key_format.kind === "json" ? (
          <Textarea
            {...keyWiring}
            spellCheck={false}
            onChange={(event) => change({ key: event.target.value })}
            className="font-mono"
          />
        ) : (
          <PasswordInput
            {...keyWiring}
            autoComplete="off"
            onChange={(event) => change({ key: event.target.value })}
            className="font-mono"
          />
        )}
      </FieldFrame>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button onClick={() => void tryConnection(fields)} loading={list.isPending}>
          {list.isPending ? null : <Plug aria-hidden />}
          {t`测试连接`}
        </Button>
        <div role="status" className="min-w-0 flex-1">
          <TrialLine trial={trial} />
        </div>
      </div>
      {type.other ? (
        <FieldFrame
          id={`${id}-other`}
          label={type.other.label[language]}
          hint={type.other.hint?.[language]}
          error={problems.other}
          required={type.other.required}
        >
          <Input
            {...wiring("other")}
            value={fields.other}
            onChange={(event) => change({ other: event.target.value })}
          />
        </FieldFrame>
      ) : null}
      <Collapsible
        title={t`模型：已选 ${models.length} 个`}
        open={modelsOpen || models.length === 0}
        onOpenChange={setModelsOpen}
      >
        <FieldFrame
          id={`${id}-models`}
          label={t`模型名称`}
          hint={t`输入后按回车可添加其他名称`}
          error={problems.models}
          required
        >
          <TokenInput {...wiring("models")} value={models} onValueChange={setModels} suggestions={offered} />
        </FieldFrame>
      </Collapsible>
      {addressFirst ? null : (
        <Collapsible
          title={t`使用其他接口地址`}
          open={addressOpen || problems.base_url !== undefined}
          onOpenChange={setAddressOpen}
        >
          {address}
        </Collapsible>
      )}
      {saveProblem ? (
        <div role="alert" className="grid gap-2 rounded-lg bg-red-bg px-3 py-2 text-red-fg">
          <p className="flex gap-2 wrap-anywhere">
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
            {saveProblem}
          </p>
        </div>
      ) : null}
      <div className="flex flex-wrap justify-end gap-2">
        {savedId === null ? (
          <Button size="lg" variant="ghost" onClick={onLater}>{t`稍后`}</Button>
        ) : (
          <Button size="lg" variant="ghost" onClick={onDone}>{t`不再测试，继续`}</Button>
        )}
        <Button type="submit" size="lg" variant="primary" loading={saving}>
          {test.isPending ? t`正在测试…` : savedId === null ? t`保存并继续` : t`保存并重新测试`}
        </Button>
      </div>
    </form>
  );
}

function TrialLine({ trial }: { trial: Trial | null }) {
  const { t } = useLingui();
  if (trial?.kind === "listed") {
    return (
      <p className="flex items-center gap-2 text-green-fg">
        <CircleCheck aria-hidden className="size-4 shrink-0" />
        {t`${formatMilliseconds(trial.milliseconds)} · ${trial.count} 个模型`}
      </p>
    );
  }
  if (trial?.kind === "on-save") {
    return (
      <p className="flex gap-2 text-ink-2">
        <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
        {t`模型列表要在保存后才能获取；保存时会发送一次真实请求来测试。`}
      </p>
    );
  }
  if (!trial) return null;
  return (
    <p className="flex gap-2 text-red-fg wrap-anywhere">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      {trial.message}
    </p>
  );
}

const text = (field: keyof Problems, message: string | undefined): Problems => (message ? { [field]: message } : {});

/** The error code of a refused call (shared/errors.ts). */
function appCode(error: unknown): unknown {
  const data: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "data") : undefined;
  return typeof data === "object" && data !== null ? Reflect.get(data, "app") : undefined;
}
