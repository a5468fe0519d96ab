import { useLingui } from "@lingui/react/macro";
import { FileUp } from "lucide-react";
import { useId, useRef, useState } from "react";
import { addUp, type ColumnMapping, presetOf, type VendorRow } from "../../../shared/reconciliation";
import { ErrorPanel } from "../../components/error-panel";
import { FieldFrame } from "../../components/form-field";
import { TimeAgo } from "../../components/time-ago";
import { toastError } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Checkbox } from "../../ui/checkbox";
import { Input } from "../../ui/input";
import { Combobox } from "../../ui/combobox";
import { Skeleton } from "../../ui/skeleton";
import { Table, Td, Th } from "../../ui/table";

/** Bytes of a file: a month of line items has about 5 MB. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Channels of one search. */
const MOST_CHANNELS = 100;
/** Rows that are drawn; the sums are over all. */
const SHOWN = 500;

interface Loaded {
  readonly title: string;
  readonly header: readonly string[];
  readonly records: readonly Record<string, string>[];
  /** The vendor whose export it is; undefined: its columns are not known. */
  readonly preset: string | undefined;
  readonly mapping: ColumnMapping;
}

const dollars = (usd: number): string => (usd < 0 ? `-$${(-usd).toFixed(2)}` : `$${usd.toFixed(2)}`);

/** A vendor's usage export against what was counted here, by day and model. */
export default function Reconcile() {
  const { t } = useLingui();
  const file = useRef<HTMLInputElement>(null);
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [shown, setShown] = useState<number | null>(null);
  const list = trpc.pricing.reconciliations.useQuery();
  const utils = trpc.useUtils();

  const read = async (source: File) => {
    if (source.size > MOST_BYTES) return toastError(t`文件过大`);
    // The parser is loaded with the first file.
    const { default: Papa } = await import("papaparse");
    const { data, meta } = Papa.parse<Record<string, string>>((await source.text()).replace(/^\uFEFF/, ""), {
      header: true,
      skipEmptyLines: true,
    });
    const header = meta.fields ?? [];
    if (header.length < 3 || data.length === 0) return toastError(t`这不是带表头的 CSV 文件`);
    const known = presetOf(header);
    const [day = "", model = "", cost = ""] = header;
    setLoaded({
      title: source.name,
      header,
      records: data,
      preset: known?.name,
      mapping: known?.mapping ?? { day, model, cost },
    });
    setShown(null);
  };

  return (
    <div className="grid gap-4">
      <p className="max-w-[960px] text-muted">{t`上传供应商导出的用量或费用文件（CSV），按天和模型与这里记录的成本比较；相差超过 1% 的会标出。日期按 UTC 计算。`}</p>
      <div>
        <Button onClick={() => file.current?.click()}>
          <FileUp aria-hidden />
          {t`选择文件`}
        </Button>
        <input
          ref={file}
          type="file"
          accept=".csv,text/csv"
          aria-label={t`供应商的用量文件`}
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            const [source] = event.target.files ?? [];
            if (source) void read(source);
            event.target.value = "";
          }}
        />
      </div>
      {loaded ? (
        <Mapping
          key={loaded.title}
          loaded={loaded}
          onCancel={() => setLoaded(null)}
          onDone={(id) => {
            setLoaded(null);
            setShown(id);
            void utils.pricing.reconciliations.invalidate();
          }}
        />
      ) : null}
      {shown === null ? null : <Report id={shown} />}
      {list.data && list.data.length > 0 ? (
        <section className="grid gap-2">
          <h2 className="text-md">{t`以往的对账`}</h2>
          <ul className="grid gap-1">
            {list.data.map(({ id, title, created_at }) => (
              <li key={id} className="flex flex-wrap items-center gap-2">
                <button
                  type="button"
                  className="text-left font-medium wrap-anywhere hover:underline"
                  aria-current={shown === id}
                  onClick={() => setShown(id)}
                >
                  {title}
                </button>
                <TimeAgo value={created_at} className="text-xs text-muted" />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}

/** Which column is what, and which channels the account serves. */
function Mapping({ loaded, onDone, onCancel }: { loaded: Loaded; onDone: (id: number) => void; onCancel: () => void }) {
  const { t } = useLingui();
  const id = useId();
  const [mapping, setMapping] = useState(loaded.mapping);
  const [channels, setChannels] = useState<ReadonlySet<number>>(new Set());
  const [keyword, setKeyword] = useState("");
  const found = trpc.channel.list.useQuery(
    { keyword, page_size: MOST_CHANNELS },
    { placeholderData: (before) => before },
  );
  const compare = trpc.pricing.reconcile.useMutation({ onSuccess: (answer) => onDone(answer.id) });
  const { rows, skipped } = addUp(loaded.records, mapping);
  const [count, chosen] = [rows.length, channels.size];
  const options = loaded.header.map((name) => ({ value: name, label: name }));
  const columns = [
    ["day", t`日期`],
    ["model", t`模型`],
    ["cost", t`费用（美元）`],
  ] as const;
  const toggle = (channel: number) => {
    const next = new Set(channels);
    if (!next.delete(channel)) next.add(channel);
    setChannels(next);
  };
  return (
    <section className="grid max-w-[960px] gap-3 rounded-md border border-line p-4" aria-label={loaded.title}>
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium wrap-anywhere">{loaded.title}</span>
        {loaded.preset === undefined ? null : <Badge hue="green">{t`${loaded.preset} 的导出文件`}</Badge>}
      </p>
      <div className="grid gap-3 md:grid-cols-3">
        {columns.map(([key, label]) => (
          <FieldFrame key={key} id={`${id}-${key}`} label={label}>
            <Combobox
              id={`${id}-${key}`}
              aria-labelledby={`${id}-${key}-label`}
              value={mapping[key]}
              options={options}
              onValueChange={(value) => setMapping({ ...mapping, [key]: value ?? "" })}
            />
          </FieldFrame>
        ))}
      </div>
      <Preview rows={rows} skipped={skipped} />
      <fieldset className="grid gap-1">
        <legend className="mb-1 font-medium">{t`使用这个账户的渠道`}</legend>
        <Input
          aria-label={t`搜索渠道`}
          placeholder={t`搜索渠道`}
          className="mb-1 max-w-72"
          value={keyword}
          onChange={(event) => setKeyword(event.target.value)}
        />
        <div className="grid max-h-60 gap-1 overflow-y-auto">
          {found.data?.items.map((channel) => (
            <label key={channel.id} className="flex items-center gap-2">
              <Checkbox checked={channels.has(channel.id)} onCheckedChange={() => toggle(channel.id)} />
              {channel.name} <span className="text-muted">#{channel.id}</span>
            </label>
          ))}
        </div>
        <p className="text-muted">{t`已选 ${chosen} 个渠道`}</p>
      </fieldset>
      <div className="flex gap-2">
        <Button
          variant="primary"
          loading={compare.isPending}
          disabled={count === 0 || channels.size === 0}
          onClick={() => compare.mutate({ title: loaded.title, channels: [...channels], rows })}
        >{t`比较`}</Button>
        <Button onClick={onCancel}>{t`取消`}</Button>
      </div>
    </section>
  );
}

function Preview({ rows, skipped }: { rows: readonly VendorRow[]; skipped: number }) {
  const { t } = useLingui();
  const days = new Set(rows.map(({ day }) => day)).size;
  const sum = dollars(rows.reduce((total, { cost }) => total + cost, 0));
  return (
    <p role="status" className="text-muted">
      {t`${days} 天，共 ${sum}`}
      {skipped > 0 ? <span className="text-yellow-fg">{` · ${t`${skipped} 行没有日期或金额，未计入`}`}</span> : null}
    </p>
  );
}

function Report({ id }: { id: number }) {
  const { t } = useLingui();
  const [all, setAll] = useState(false);
  const query = trpc.pricing.reconciliation.useQuery({ id });
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-40" />;
  const { title, rows, vendor, counted, flagged } = query.data;
  const listed = all ? rows : rows.filter((row) => row.flagged);
  const [theirs, ours, more] = [dollars(vendor), dollars(counted), listed.length - SHOWN];
  return (
    <section className="grid gap-3" aria-label={title}>
      <div className="flex flex-wrap items-center gap-3">
        <h2 className="text-md wrap-anywhere">{title}</h2>
        <p className="flex-1">{t`供应商 ${theirs}，这里 ${ours}`}</p>
        <Badge hue={flagged > 0 ? "red" : "green"}>{flagged > 0 ? t`${flagged} 处不符` : t`全部相符`}</Badge>
        <label className="flex items-center gap-2">
          <Checkbox checked={all} onCheckedChange={(on) => setAll(on === true)} />
          {t`也显示相符的`}
        </label>
      </div>
      {listed.length === 0 ? null : (
        <Table wide aria-label={title}>
          <thead>
            <tr>
              <Th>{t`日期`}</Th>
              <Th>{t`模型`}</Th>
              <Th className="text-right">{t`供应商`}</Th>
              <Th className="text-right">{t`这里`}</Th>
              <Th className="text-right">{t`差额`}</Th>
              <Th>
                <span className="sr-only">{t`说明`}</span>
              </Th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, SHOWN).map((row) => (
              <tr key={`${row.day} ${row.model}`}>
                <Td className="whitespace-nowrap tabular-nums">{row.day}</Td>
                <Td className="font-mono text-xs wrap-anywhere">{row.model}</Td>
                <Td className="text-right tabular-nums">{dollars(row.vendor)}</Td>
                <Td className="text-right tabular-nums">{dollars(row.counted)}</Td>
                <Td className={row.flagged ? "text-right text-red-fg tabular-nums" : "text-right tabular-nums"}>
                  {dollars(row.vendor - row.counted)}
                </Td>
                <Td className="text-muted">{row.unknown > 0 ? t`有调用的成本未知` : ""}</Td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {more > 0 ? <p className="text-muted">{t`另有 ${more} 行未列出。`}</p> : null}
    </section>
  );
}
