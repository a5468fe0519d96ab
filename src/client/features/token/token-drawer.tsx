import { useLingui } from "@lingui/react/macro";
import { Pencil } from "lucide-react";
import { useEffect, useState, type ReactNode } from "react";
import { AUTO_GROUP } from "../../../shared/group";
import type { TokenView, TokenWithKey } from "../../../shared/token";
import { NEW } from "../../components/data-grid/grid-state";
import { ErrorPanel } from "../../components/error-panel";
import { useUser } from "../../lib/session";
import { useStatus } from "../../lib/status";
import { toastInfo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Button } from "../../ui/button";
import { Drawer } from "../../ui/drawer";
import { Skeleton } from "../../ui/skeleton";
import { ConnectPanel } from "../connect/connect-panel";
import { NewKeys } from "./new-keys";
import { useTokenKey } from "./token-actions";
import { TokenFacts } from "./token-facts";
import { TokenForm, TokenFormFooter } from "./token-form";
import { modelsOf } from "./token-models";
import { useTokenForm } from "./use-token-form";

export type TokenDrawerProps = {
  /** Ids as the address has them; `edit` goes first. */
  open: string | null;
  edit: string | null;
  onOpen: (id: number | null) => void;
  onEdit: (id: number | null) => void;
};

/** The drawer beside the list: the form of a token (`edit`), or how to use it (`open`). */
export default function TokenDrawer({ open, edit, onOpen, onEdit }: TokenDrawerProps) {
  const { t } = useLingui();
  // The keys of a batch just made; they are in no address.
  const [batch, setBatch] = useState<readonly TokenWithKey[] | null>(null);

  if (batch !== null) {
    const count = batch.length;
    return (
      <Drawer open modal={false} onOpenChange={(next) => !next && setBatch(null)} title={t`已创建 ${count} 个令牌`}>
        <NewKeys tokens={batch} />
      </Drawer>
    );
  }
  if (edit === NEW) {
    return (
      <NewDrawer
        key={NEW}
        onClose={() => onEdit(null)}
        onCreated={(tokens) => {
          onEdit(null);
          const [first, ...more] = tokens;
          if (first && more.length === 0) onOpen(first.id);
          else setBatch(tokens);
        }}
      />
    );
  }
  if (edit !== null) {
    return (
      <LoadedDrawer key={`edit ${edit}`} id={edit} title={t`编辑令牌`} onClose={() => onEdit(null)}>
        {(token) => <FormDrawer token={token} group="" onClose={() => onEdit(null)} onCreated={() => undefined} />}
      </LoadedDrawer>
    );
  }
  if (open !== null) {
    return (
      <LoadedDrawer key={`open ${open}`} id={open} title={t`令牌`} onClose={() => onOpen(null)}>
        {(token) => <ConnectDrawer token={token} onEdit={() => onEdit(token.id)} onClose={() => onOpen(null)} />}
      </LoadedDrawer>
    );
  }
  return null;
}

/** Brings the token as the server has it now, and says so when there is none. */
function LoadedDrawer({
  id,
  title,
  onClose,
  children,
}: {
  id: string;
  title: string;
  onClose: () => void;
  children: (token: TokenView) => ReactNode;
}) {
  const number = /^\d{1,15}$/.test(id) ? Number(id) : 0;
  const query = trpc.token.get.useQuery(
    // No token has this id: the server says that there is none.
    { id: number > 0 ? number : Number.MAX_SAFE_INTEGER },
    { meta: { quiet: true }, refetchOnMount: "always" },
  );
  if (query.data && query.isFetchedAfterMount) return children(query.data);
  return (
    <Drawer open onOpenChange={(next) => !next && onClose()} title={title} modal={false}>
      {query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : <DrawerSkeleton />}
    </Drawer>
  );
}

function DrawerSkeleton() {
  return (
    <div aria-hidden className="grid gap-4">
      {Array.from({ length: 6 }, (_, index) => (
        <Skeleton key={index} className="h-8" />
      ))}
    </div>
  );
}

type FormDrawerProps = {
  token: TokenView | undefined;
  /** What a new token begins with. */
  group: string;
  onClose: () => void;
  onCreated: (tokens: readonly TokenWithKey[]) => void;
};

/** The form of a new token, which begins with "auto" where that is the default: it waits for the groups (C-260). */
function NewDrawer(props: Pick<FormDrawerProps, "onClose" | "onCreated">) {
  const { t } = useLingui();
  const groups = trpc.group.own.useQuery(undefined, { staleTime: 60_000 });
  const wanted = useStatus().default_use_auto_group === true;
  if (!wanted || !groups.isPending) {
    const auto = wanted && Object.hasOwn(groups.data ?? {}, AUTO_GROUP);
    return <FormDrawer token={undefined} group={auto ? AUTO_GROUP : ""} {...props} />;
  }
  return (
    <Drawer open modal={false} onOpenChange={(next) => !next && props.onClose()} title={t`添加令牌`}>
      <DrawerSkeleton />
    </Drawer>
  );
}

function FormDrawer({ token, group, onClose, onCreated }: FormDrawerProps) {
  const { t } = useLingui();
  const state = useTokenForm({ token, group, onCreated, onSaved: onClose });
  const name = token?.name ?? "";
  const close = () => {
    // Closing needs no confirmation, nothing is lost: the draft is offered when the form is opened again.
    if (state.changes.length > 0 && !state.saving) toastInfo(t`未保存的修改已留作草稿`, { id: "token-draft" });
    onClose();
  };
  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(next) => !next && close()}
      title={token ? t`编辑令牌 ${name}` : t`添加令牌`}
      footer={<TokenFormFooter state={state} onCancel={close} />}
    >
      <TokenForm state={state} />
    </Drawer>
  );
}

/** A token's facts, and what to paste where. */
function ConnectDrawer({ token, onEdit, onClose }: { token: TokenView; onEdit: () => void; onClose: () => void }) {
  const { t } = useLingui();
  const { id } = token;
  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(next) => !next && onClose()}
      title={token.name}
      headerExtra={
        <Button size="sm" onClick={onEdit}>
          <Pencil aria-hidden />
          {t`编辑`}
        </Button>
      }
    >
      <TokenFacts token={token} />
      <h3 className="mt-6 mb-3 text-md">{t`连接`}</h3>
      <Connect key={id} token={token} />
    </Drawer>
  );
}

/** Asks for the key once and shows the panel with it. */
function Connect({ token }: { token: TokenView }) {
  const { t } = useLingui();
  const { id } = token;
  const { keyOf } = useTokenKey();
  const models = useModelsOf(token);
  const [key, setKey] = useState<string | null | undefined>(undefined);
  useEffect(() => {
    let current = true;
    void keyOf(id).then((found) => current && setKey(found));
    return () => {
      current = false;
    };
    // Once for each token; keyOf is new on each render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [id]);

  if (key === null) return <p role="alert" className="text-red-fg">{t`无法读取此令牌的密钥`}</p>;
  if (key === undefined || models.pending) return <DrawerSkeleton />;
  return <ConnectPanel tokenId={id} tokenKey={key} models={models.names} />;
}

/**
 * The models that a token may call. Not asked for with the token's own key: its address list may know the servers that
 * use it and not this browser.
 */
function useModelsOf(token: TokenView): { names: string[]; pending: boolean } {
  const own = useUser()?.group;
  const group = token.group || own;
  const { data, isPending } = trpc.group.models.useQuery(group ? { group } : {}, {
    staleTime: 60_000,
    meta: { quiet: true },
  });
  const limits = modelsOf(token);
  const names = (data ?? []).filter((name) => !token.model_limits_enabled || limits.includes(name));
  return { names, pending: isPending };
}
