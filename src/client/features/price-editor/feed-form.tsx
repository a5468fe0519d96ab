import { useLingui } from "@lingui/react/macro";
import { useId, useState } from "react";
import { parseOption } from "../../../shared/options";
import type { PriceFeed } from "../../../shared/price-feeds";
import { FieldFrame } from "../../components/form-field";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { Input } from "../../ui/input";
import { NumberField } from "../../ui/number-field";

interface FeedFormProps {
  /** undefined: a new one. */
  feed: PriceFeed | undefined;
  others: readonly PriceFeed[];
  saving: boolean;
  onSave: (feed: PriceFeed) => void;
  onCancel: () => void;
}

/** One price feed. What is wrong is said by the option's own parser. */
export function FeedForm({ feed, others, saving, onSave, onCancel }: FeedFormProps) {
  const { t } = useLingui();
  const id = useId();
  const [name, setName] = useState(feed?.name ?? "");
  const [url, setUrl] = useState(feed?.url ?? "");
  const [key, setKey] = useState(feed?.key ?? "");
  const [hours, setHours] = useState(feed?.hours ?? 24);
  const [automatic, setAutomatic] = useState(feed?.automatic ?? false);
  const [tried, setTried] = useState(false);
  const next: PriceFeed = {
    name: name.trim(),
    url: url.trim(),
    ...(key.trim() !== "" && { key: key.trim() }),
    hours,
    automatic,
  };
  const parsed = parseOption("PriceFeeds", JSON.stringify([next, ...others]));
  return (
    <form
      className="grid max-w-[960px] gap-3 rounded-md border border-line p-4 md:grid-cols-2"
      aria-label={feed ? t`修改价格源` : t`添加价格源`}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (parsed.ok) onSave(next);
      }}
    >
      <FieldFrame id={`${id}-name`} label={t`名称`} required>
        <Input id={`${id}-name`} value={name} maxLength={60} onChange={(event) => setName(event.target.value)} />
      </FieldFrame>
      <FieldFrame id={`${id}-hours`} label={t`读取周期（小时）`} hint={t`0 表示只手动读取`}>
        <NumberField
          id={`${id}-hours`}
          aria-describedby={`${id}-hours-hint`}
          min={0}
          max={720}
          value={hours}
          onValueChange={(value) => setHours(value ?? 0)}
        />
      </FieldFrame>
      <FieldFrame
        id={`${id}-url`}
        className="md:col-span-2"
        label={t`地址`}
        hint={t`LiteLLM 或 models.dev 的价格目录、另一个网关的 /api/ratio_config 或 /api/pricing，或签名文件`}
        required
      >
        <Input
          id={`${id}-url`}
          aria-describedby={`${id}-url-hint`}
          inputMode="url"
          placeholder="https://prices.example/prices.jws"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </FieldFrame>
      <FieldFrame
        id={`${id}-key`}
        className="md:col-span-2"
        label={t`公钥`}
        hint={t`weir prices sign 输出的 Ed25519 公钥；填写后只接受由它签名的文件`}
      >
        <Input
          id={`${id}-key`}
          aria-describedby={`${id}-key-hint`}
          className="font-mono"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </FieldFrame>
      <label className="flex items-center gap-2 md:col-span-2">
        <Checkbox checked={automatic} onCheckedChange={(on) => setAutomatic(on === true)} />
        {t`自动采用幅度内的变化`}
      </label>
      {tried && !parsed.ok ? (
        <p role="alert" className="text-red-fg md:col-span-2">
          {parsed.problem[currentLanguage()]}
        </p>
      ) : null}
      <div className="flex gap-2 md:col-span-2">
        <Button type="submit" variant="primary" loading={saving}>{t`保存`}</Button>
        <Button onClick={onCancel}>{t`取消`}</Button>
      </div>
    </form>
  );
}
