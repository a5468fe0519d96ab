import { useLingui } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { ExternalLink, Info } from "lucide-react";
import { useId, useState } from "react";
import { ROLE } from "../../../shared/roles";
import { bareKey, KEY_PREFIX, keyHint } from "../../../shared/token";
import { FieldFrame } from "../../components/form-field";
import { useHasRole } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { Button } from "../../ui/button";
import { CodeBlock } from "../../ui/code-block";
import { Combobox } from "../../ui/combobox";
import { CopyButton } from "../../ui/copy-button";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../../ui/tabs";
import { chatLinks, clients, servedEndpoints, type Client, type Connection } from "./clients";
import { FirstCall } from "./first-call";
import { TryIt } from "./try-it";

export interface ConnectPanelProps {
  tokenId: number;
  /** The clear key, with or without `sk-` (tRPC token.reveal or token.create). Shown masked, copied whole. */
  tokenKey: string;
  /** Names that the token may call; absent: the gateway is asked with the token's own key. */
  models?: readonly string[];
}

/** From a token to a working client: address and key, what to paste, and a tick when the first call has arrived. */
export function ConnectPanel({ tokenId, tokenKey, models }: ConnectPanelProps) {
  const { t } = useLingui();
  const modelId = useId();
  const status = useStatus();
  const key = KEY_PREFIX + bareKey(tokenKey);
  const masked = KEY_PREFIX + keyHint(bareKey(tokenKey));
  const served = useQuery({
    queryKey: ["served-models", tokenId],
    queryFn: () => servedModels(key),
    enabled: models === undefined,
    meta: { quiet: true },
  });
  const names = models ?? served.data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const model = chosen !== null && names.includes(chosen) ? chosen : (names[0] ?? "");
  // Only who can change the address is told that it is not this page's.
  const operates = useHasRole(ROLE.root);
  const root = (status.server_address || location.origin).replace(/\/+$/, "");
  const real: Connection = { root, key, model: model || "MODEL", name: status.system_name || "Weir" };
  const shown: Connection = { ...real, key: masked };

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="grid gap-2 sm:grid-cols-2">
        <Fact name={t`接口地址`} text={`${root}/v1`} copy={`${root}/v1`} copyLabel={t`复制接口地址`} />
        <Fact name={t`密钥`} text={masked} copy={key} copyLabel={t`复制密钥`} />
      </div>
      {!operates || root === location.origin || root.startsWith(`${location.origin}/`) ? null : (
        <p className="flex gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t`设置中的服务器地址 ${root} 与本页面的地址 ${location.origin} 不同；如果它不能从外部访问，请在系统设置中修改。`}
        </p>
      )}
      <FieldFrame
        id={modelId}
        label={t`模型`}
        hint={names.length === 0 && !served.isLoading ? t`还没有这个令牌可用的模型，请先添加渠道。` : undefined}
      >
        <Combobox
          id={modelId}
          aria-labelledby={`${modelId}-label`}
          value={model || null}
          onValueChange={setChosen}
          options={names.map((name) => ({ value: name, label: name }))}
          placeholder={t`选择模型`}
          disabled={names.length === 0}
          className="sm:max-w-80"
        />
      </FieldFrame>
      <Tabs defaultValue={clients[0]?.id} className="min-w-0">
        <TabsList aria-label={t`客户端`}>
          {clients.map((client) => (
            <TabsTrigger key={client.id} value={client.id}>
              {client.name}
            </TabsTrigger>
          ))}
        </TabsList>
        {clients.map((client) => (
          <TabsContent key={client.id} value={client.id} className="grid grid-cols-[minmax(0,1fr)] gap-3">
            <ClientGuide client={client} real={real} shown={shown} />
          </TabsContent>
        ))}
      </Tabs>
      <div className="grid gap-3 border-t border-line pt-4">
        <TryIt tokenKey={key} model={model} />
        <FirstCall key={tokenId} tokenId={tokenId} />
      </div>
    </div>
  );
}

function Fact({ name, text, copy, copyLabel }: { name: string; text: string; copy: string; copyLabel: string }) {
  return (
    <div className="flex min-w-0 items-center gap-2 rounded-lg border border-line bg-surface py-1.5 pr-1.5 pl-3">
      <div className="min-w-0 flex-1">
        <p className="text-xs text-muted">{name}</p>
        <p className="truncate font-mono text-sm" title={text}>
          {text}
        </p>
      </div>
      <CopyButton text={copy} label={copyLabel} />
    </div>
  );
}

function ClientGuide({ client, real, shown }: { client: Client; real: Connection; shown: Connection }) {
  const { t } = useLingui();
  const status = useStatus();
  const { name, endpoint, link } = client;
  const links = client.id === "lobechat" ? chatLinks(status.chats ?? [], real) : [];

  return (
    <>
      {servedEndpoints.includes(endpoint) ? null : (
        <p className="flex gap-2 rounded-lg bg-yellow-bg px-3 py-2 text-yellow-fg">
          <Info aria-hidden className="mt-0.5 size-4 shrink-0" />
          {t`${name} 调用 ${endpoint}，这个版本还没有开放该接口；以下配置在开放后可直接使用。`}
        </p>
      )}
      <CodeBlock code={client.code(shown)} copyText={client.code(real)} label={t`${name} 的配置`} />
      {link || links.length > 0 ? (
        <div className="flex flex-wrap gap-2">
          {link ? (
            // The link contains the key, so it is built on click and is never in the page.
            <Button onClick={() => location.assign(link.href(real))}>
              <ExternalLink aria-hidden />
              {t`导入到 ${link.app}`}
            </Button>
          ) : null}
          {links.map((chat) => (
            <Button key={chat.name} onClick={() => window.open(chat.href, "_blank", "noopener,noreferrer")}>
              <ExternalLink aria-hidden />
              {t`打开 ${chat.name}`}
            </Button>
          ))}
        </div>
      ) : null}
    </>
  );
}

/** The names of GET /v1/models for this key. */
async function servedModels(key: string): Promise<string[]> {
  const response = await fetch("/v1/models", { headers: { authorization: `Bearer ${key}` }, credentials: "omit" });
  const body: unknown = await response.json();
  const list: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "data") : undefined;
  if (!Array.isArray(list)) return [];
  const ids = list.map((entry: unknown) =>
    typeof entry === "object" && entry !== null ? Reflect.get(entry, "id") : undefined,
  );
  return ids.filter((id) => typeof id === "string");
}
