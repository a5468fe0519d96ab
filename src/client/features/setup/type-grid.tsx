import { useLingui } from "@lingui/react/macro";
import { RadioGroup } from "radix-ui";
import { useState } from "react";
import type { ChannelType } from "../../../shared/channel-types";
import { ProviderLogo } from "../../components/provider-logo";
import { currentLanguage } from "../../lib/i18n";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { firstChannelTypes, SHOWN_FIRST } from "./channel-choice";

/** Logos to choose a channel type from; a few at first, all on demand or by search. Arrow keys move the choice. */
export function TypeGrid({
  value,
  onValueChange,
}: {
  value: number | null;
  onValueChange: (type: ChannelType) => void;
}) {
  const { t } = useLingui();
  const [all, setAll] = useState(false);
  const [search, setSearch] = useState("");
  const needle = search.trim().toLowerCase();
  const language = currentLanguage();
  const shown = firstChannelTypes.filter((type, index) =>
    needle
      ? `${type.name.zh}\n${type.name.en}\n${type.key}`.toLowerCase().includes(needle)
      : all || index < SHOWN_FIRST || type.id === value,
  );

  return (
    <div className="grid gap-2">
      <div className="flex gap-2">
        <Input
          type="search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
          placeholder={t`搜索渠道类型`}
          aria-label={t`搜索渠道类型`}
        />
        {needle ? null : (
          <Button onClick={() => setAll(!all)} aria-expanded={all}>
            {all ? t`收起` : t`全部 ${firstChannelTypes.length} 种`}
          </Button>
        )}
      </div>
      <RadioGroup.Root
        aria-label={t`渠道类型`}
        value={value === null ? "" : String(value)}
        onValueChange={(next) => {
          const type = firstChannelTypes.find(({ id }) => String(id) === next);
          if (type) onValueChange(type);
        }}
        className="grid grid-cols-3 gap-2 sm:grid-cols-4"
      >
        {shown.map((type) => (
          <RadioGroup.Item
            key={type.id}
            value={String(type.id)}
            className="flex min-h-18 min-w-0 flex-col items-center justify-center gap-1.5 rounded-lg border border-line-control bg-surface p-2 text-center hover:bg-sunken data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
          >
            <ProviderLogo slug={type.logo || undefined} className="size-6" />
            <span className="max-w-full text-xs wrap-anywhere">{type.name[language]}</span>
          </RadioGroup.Item>
        ))}
      </RadioGroup.Root>
      {shown.length === 0 ? <p className="text-muted">{t`没有匹配的渠道类型`}</p> : null}
    </div>
  );
}
