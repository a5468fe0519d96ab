import { useLingui } from "@lingui/react/macro";
import { CloudDownload } from "lucide-react";
import { useId, useMemo, useState } from "react";
import { useFormContext } from "react-hook-form";
import { channelType } from "../../../shared/channel-types";
import { FormField } from "../../components/form-field";
import { faultOf } from "../../lib/errors";
import { toastError } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Input } from "../../ui/input";
import { TokenInput } from "../../ui/token-input";
import { sortTyped, trimBaseUrl, type ChannelValues } from "./channel-values";
import { FetchModelsDialog } from "./fetch-models-dialog";
import { UnpricedNote, useUnpriced } from "./unpriced";

/**
 * The models of the channel: typed, taken from the type, or fetched from the upstream. `id` is that of a stored one.
 */
export function ModelsField({ id }: { id: number | undefined }) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const type = channelType(form.watch("type"));
  const known = trpc.channel.models.useQuery(undefined, { staleTime: 60_000 });
  const all = known.data?.map((model) => model.id) ?? [];
  const [offered, setOffered] = useState<string[] | null>(null);
  const upstream = useUpstreamModels(id);
  const chosen = form.watch("models");
  const unpriced = useUnpriced(useMemo(() => [...new Set([...chosen, ...(offered ?? [])])], [chosen, offered]));

  return (
    <FormField control={form.control} name="models" label={t`模型`} required>
      {({ control, value, setValue }) => (
        <div className="grid gap-2">
          <TokenInput
            {...control}
            suggestions={all}
            placeholder={t`输入模型名称，回车添加`}
            className="max-h-56 overflow-y-auto"
          />
          <div className="flex flex-wrap items-center gap-1">
            <span role="status" className="mr-auto text-xs text-ink-2">{t`已选 ${value.length} 个模型`}</span>
            <CopyButton text={value.join(",")} label={t`复制模型列表`} />
            <Button
              size="sm"
              variant="ghost"
              disabled={value.length === 0}
              onClick={() => setValue([])}
            >{t`清除所有模型`}</Button>
          </div>
          <div className="flex flex-wrap gap-1">
            {type?.fetch_models ? (
              <Button
                size="sm"
                loading={upstream.busy}
                onClick={async () => {
                  const names = await upstream.fetch();
                  if (names) setOffered(names);
                }}
              >
                {upstream.busy ? null : <CloudDownload aria-hidden />}
                {t`获取模型列表`}
              </Button>
            ) : null}
            <Button
              size="sm"
              disabled={!type || type.models.length === 0}
              onClick={() => setValue([...new Set([...value, ...(type?.models ?? [])])])}
            >
              {t`填入相关模型`}
            </Button>
            <Button
              size="sm"
              disabled={all.length === 0 || type?.fixed_models}
              onClick={() => setValue([...new Set([...value, ...all])])}
            >
              {t`填入所有模型`}
            </Button>
          </div>
          <UnpricedNote models={value.filter((model) => unpriced.includes(model))} />
          {type?.fixed_models ? null : (
            <CustomModels chosen={value} onAdd={(names) => setValue([...value, ...names])} />
          )}
          {offered ? (
            <FetchModelsDialog
              chosen={value}
              upstream={offered}
              unpriced={unpriced}
              onClose={() => setOffered(null)}
              onApply={(models) => {
                setValue(models);
                setOffered(null);
              }}
            />
          ) : null}
        </div>
      )}
    </FormField>
  );
}

/** Models that no list has, several at once. */
function CustomModels({ chosen, onAdd }: { chosen: readonly string[]; onAdd: (names: string[]) => void }) {
  const { t } = useLingui();
  const id = useId();
  const [text, setText] = useState("");
  const [doubles, setDoubles] = useState<string[]>([]);
  const names = doubles.join(", ");
  const add = () => {
    const typed = sortTyped(text, chosen);
    if (typed.added.length > 0) onAdd(typed.added);
    setDoubles(typed.doubles);
    setText("");
  };
  return (
    <div className="grid gap-1">
      <div className="flex gap-1">
        <Input
          aria-label={t`自定义模型名称`}
          aria-describedby={doubles.length > 0 ? `${id}-doubles` : undefined}
          placeholder={t`自定义模型名称，多个用逗号分隔`}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setDoubles([]);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.ctrlKey || event.metaKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            add();
          }}
        />
        <Button disabled={text.trim() === ""} onClick={add}>{t`填入`}</Button>
      </div>
      {doubles.length > 0 ? (
        <p id={`${id}-doubles`} role="alert" className="text-xs text-red-fg">
          {t`某些模型已存在！`} {names}
        </p>
      ) : null}
    </div>
  );
}

/**
 * Asks the upstream for its models. A stored channel whose address and key were not touched is asked with its stored
 * key; anything else needs the key that is typed into the form.
 */
function useUpstreamModels(id: number | undefined) {
  const { t } = useLingui();
  const form = useFormContext<ChannelValues>();
  const utils = trpc.useUtils();
  const typed = trpc.channel.fetchModelsFrom.useMutation({ meta: { quiet: true } });
  const [busy, setBusy] = useState(false);

  const fetch = async (): Promise<string[] | null> => {
    const { type, key, base_url } = form.getValues();
    const before = form.formState.defaultValues;
    const asStored = id !== undefined && key.trim() === "" && before?.type === type && before.base_url === base_url;
    if (!asStored && key.trim() === "" && !channelType(type)?.key_format.optional) {
      form.setError("key", { type: "fetch", message: t`请填写密钥` }, { shouldFocus: true });
      toastError(t`请填写密钥`);
      return null;
    }
    setBusy(true);
    try {
      if (asStored) return await utils.channel.fetchModelsOf.fetch({ id }, { staleTime: 0, meta: { quiet: true } });
      return await typed.mutateAsync({ type, key, base_url: trimBaseUrl(type, base_url) });
    } catch (error) {
      const fault = faultOf(error);
      if (fault.kind === "refused" || fault.kind === "http") toastError(fault.message || t`获取模型列表失败`);
      return null;
    } finally {
      setBusy(false);
    }
  };
  return { fetch, busy };
}
