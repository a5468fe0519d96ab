import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Link } from "wouter";
import { formatNumber } from "../../lib/format";
import { trpc } from "../../lib/trpc";
import { CodeBlock } from "../../ui/code-block";
import { Skeleton } from "../../ui/skeleton";
import { BillTable } from "../log/log-bill";
import { costOf, pricedRows } from "../pricing/prices";

/** Tokens of an example: a question about a document of two pages, of which a part was cached. */
const EXAMPLE = { input: 2678, cache_read: 512, output: 1001 };
/** Shown where the gateway has it, since most readers know it. */
const KNOWN_MODEL = "gpt-4o-mini";

/** What a visitor gets: a call in three lines, how many models from which price, and what a call costs, to the unit. */
export default function Offer({ baseUrl }: { baseUrl: string }) {
  const { t } = useLingui();
  const [moment] = useState(() => Date.now());
  const { data: catalogue, isPending } = trpc.pricing.catalogue.useQuery(undefined, {
    meta: { quiet: true },
    staleTime: 60_000,
  });
  // As high as it will be: what stands around it stays where it is.
  if (isPending) return <Skeleton className="h-[417px]" />;
  const group = catalogue?.user_group ?? "";
  const rows = catalogue ? pricedRows(catalogue, group).filter(({ available }) => available) : [];
  const inputs = rows.flatMap(({ shown }) => (shown.input === undefined ? [] : [Number(shown.input)]));
  const byTokens = rows.filter(({ billing, item }) => billing === "ratio" && !item.steps);
  const example = byTokens.find(({ item }) => item.model === KNOWN_MODEL) ?? byTokens[0];
  const charge = catalogue && example && costOf(catalogue, example.item, group, EXAMPLE, { moment });
  const model = example?.item.model ?? KNOWN_MODEL;
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }] });
  const count = rows.length;
  const least = formatNumber(inputs.length > 0 ? Math.min(...inputs) : 0);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      {count > 0 ? (
        <p className="text-md font-normal text-ink-2">
          <Link href="/pricing" className="text-accent-text underline underline-offset-4">
            {inputs.length > 0 ? t`${count} 个模型，每百万输入 Token $${least} 起` : t`${count} 个模型`}
          </Link>
        </p>
      ) : null}
      <CodeBlock
        label="curl"
        code={[
          `curl ${baseUrl}/chat/completions \\`,
          `  -H "Authorization: Bearer sk-…" -H "Content-Type: application/json" \\`,
          `  -d '${body}'`,
        ].join("\n")}
      />
      {charge ? (
        <section aria-labelledby="example-bill" className="grid gap-2">
          <h2 id="example-bill" className="text-base font-medium">
            {t`示例：一次 ${model} 调用的账单`}
          </h2>
          <BillTable bill={charge.lines} />
        </section>
      ) : null}
    </div>
  );
}
