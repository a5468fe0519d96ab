import { useLingui } from "@lingui/react/macro";
import { FileUp, Globe } from "lucide-react";
import { useId, useRef, useState } from "react";
import { applyChanges, type IncomingPrices, priceChanges, readPrices } from "../../../shared/price-import";
import { EmptyState } from "../../components/empty-state";
import { FieldFrame } from "../../components/form-field";
import { trpc } from "../../lib/trpc";
import { toastError } from "../../lib/toast";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { DifferenceTable, SHOWN } from "./price-difference";
import type { Prices, useSavePrices } from "./use-prices";

/** Bytes of a file; a price list of 20,000 models has about 2 MB. */
const MOST_BYTES = 8 * 1024 * 1024;

interface Found {
  readonly source: string;
  readonly incoming: IncomingPrices;
}

/** Prices of a file or of another gateway: first the difference, then what was chosen of it, in one PUT per option. */
export default function PriceImport({ prices, saver }: { prices: Prices; saver: ReturnType<typeof useSavePrices> }) {
  const { t } = useLingui();
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  const [url, setUrl] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const remote = trpc.pricing.remote.useMutation();

  const readFile = async (source: File) => {
    if (source.size > MOST_BYTES) return toastError(t`文件过大`);
    let json: unknown;
    try {
      json = JSON.parse(await source.text());
    } catch {
      return toastError(t`不是合法的 JSON 字符串`);
    }
    const incoming = readPrices(json);
    if (incoming) setFound({ source: source.name, incoming });
    else toastError(t`内容不是价格表`);
  };
  const fetchPrices = async () => {
    const answer = await remote.mutateAsync({ url: url.trim() });
    setFound({ source: answer.url, incoming: new Map(Object.entries(answer.prices)) });
  };

  return (
    <div className="grid gap-4">
      <div className="flex max-w-[960px] flex-wrap items-end gap-2">
        <form
          className="flex min-w-0 flex-1 items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (url.trim() !== "") void fetchPrices().catch(() => undefined);
          }}
        >
          <FieldFrame
            id={id}
            className="min-w-0 flex-1"
            label={t`另一个网关的地址`}
            hint={t`读取它公开的 /api/ratio_config 或 /api/pricing`}
          >
            <Input
              id={id}
              inputMode="url"
              placeholder="https://gateway.example"
              value={url}
              aria-describedby={`${id}-hint`}
              onChange={(event) => setUrl(event.target.value)}
            />
          </FieldFrame>
          <Button type="submit" className="mb-5" loading={remote.isPending} disabled={url.trim() === ""}>
            <Globe aria-hidden />
            {t`读取`}
          </Button>
        </form>
        <Button className="mb-5" onClick={() => file.current?.click()}>
          <FileUp aria-hidden />
          {t`选择文件`}
        </Button>
        <input
          ref={file}
          type="file"
          accept=".json,application/json"
          aria-label={t`价格文件`}
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const [source] = event.target.files ?? [];
            if (source) void readFile(source);
            event.target.value = "";
          }}
        />
      </div>
      {found ? (
        <Differences key={found.source} found={found} prices={prices} saver={saver} onDone={() => setFound(null)} />
      ) : null}
    </div>
  );
}

function Differences({
  found,
  prices,
  saver,
  onDone,
}: {
  found: Found;
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const served = new Set(prices.served);
  const changes = priceChanges(prices.tables, found.incoming);
  // A public catalogue has thousands of models: what no channel serves is not chosen for the operator.
  const isWanted = (name: string): boolean => changes.length <= SHOWN || served.has(name);
  // What fills a gap is chosen at first; what would change a price is the operator's to choose.
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(changes.filter(({ kind, name }) => kind === "new" && isWanted(name)).map(({ name }) => name)),
  );
  const taken = changes.filter(({ name }) => chosen.has(name));
  const [total, count, source, read] = [changes.length, taken.length, found.source, found.incoming.size];
  const apply = async () => {
    if (await saver.save(prices.tables, applyChanges(prices.tables, taken)).catch(() => false)) onDone();
  };
  if (total === 0)
    return <EmptyState title={t`没有差异`} description={t`${source} 的 ${read} 个模型价格与这里相同。`} />;
  return (
    <section className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <p className="flex-1">{t`${source}：${total} 处不同，已选 ${count} 处`}</p>
        <Button onClick={onDone}>{t`取消`}</Button>
        <Button
          variant="primary"
          disabled={count === 0}
          loading={saver.saving}
          onClick={() => void apply()}
        >{t`应用所选`}</Button>
      </div>
      <DifferenceTable label={t`价格差异`} changes={changes} chosen={chosen} onChosen={setChosen} />
    </section>
  );
}
