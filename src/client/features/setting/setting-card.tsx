import { useLingui } from "@lingui/react/macro";
import { type Card as CardName, cards } from "../../../shared/options";
import { currentLanguage } from "../../lib/i18n";
import { WhileLoading } from "../../lib/lazy";
import { toastError } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Card, CardBody, CardHeader } from "../../ui/card";
import { Skeleton } from "../../ui/skeleton";
import { cardParts } from "./card-parts";
import { OptionField } from "./option-field";
import { cardKeys, cardNeeds, nameOf } from "./setting-values";
import { SettingHistory } from "./setting-history";
import { useSettings } from "./use-settings";

/** A card of the registry: its fields, its other parts, and a save button that is always enabled (D-50). */
export function SettingCard({ card }: { card: CardName }) {
  const { t } = useLingui();
  const { save, saving, changed, stored } = useSettings();
  const lang = currentLanguage();
  const keys = cardKeys(card);
  const { before: Before, after: After, hides = [] } = cardParts[card] ?? {};
  const dirty = changed(keys).length;
  const submit = () => {
    const missing = cardNeeds(card, stored)
      .map((key) => nameOf(key, lang))
      .join("、");
    if (missing) toastError(t`请先填写并保存：${missing}`);
    else void save(keys);
  };
  return (
    <Card id={`card-${card}`} aria-label={cards[card].title[lang]} className="scroll-mt-4">
      <CardHeader
        title={cards[card].title[lang]}
        actions={hides.length > 0 ? <SettingHistory keys={hides} name={cards[card].title[lang]} /> : undefined}
      />
      <CardBody>
        <form
          noValidate
          autoComplete="off"
          className="grid grid-cols-[minmax(0,1fr)] gap-4"
          onSubmit={(event) => {
            event.preventDefault();
            submit();
          }}
        >
          {Before ? (
            <WhileLoading show={<Skeleton className="h-24" />}>
              <Before />
            </WhileLoading>
          ) : null}
          {keys
            .filter((key) => !hides.includes(key))
            .map((key) => (
              <OptionField key={key} name={key} />
            ))}
          <div className="flex items-center gap-3">
            <Button type="submit" variant={dirty > 0 ? "primary" : "secondary"} loading={saving && dirty > 0}>
              {t`保存${cards[card].title[lang]}`}
            </Button>
            <span role="status" className="text-ink-2">
              {dirty > 0 ? t`${dirty} 项未保存` : ""}
            </span>
          </div>
        </form>
        {After ? (
          <div className="mt-4 border-t border-line pt-4">
            <WhileLoading show={<Skeleton className="h-24" />}>
              <After />
            </WhileLoading>
          </div>
        ) : null}
      </CardBody>
    </Card>
  );
}
