import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import type { ChannelView } from "../../../shared/channel";
import { ErrorPanel } from "../../components/error-panel";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Drawer } from "../../ui/drawer";
import { FormSkeleton, useChannel } from "./channel-loading";

// Most users only look at the list: the drawer's code is fetched when it opens, or when its button is touched.
const ChannelEditDrawer = lazy(() => import("./channel-edit-drawer"));
const ChannelDetail = lazy(() => import("./channel-detail"));

/** Fetches the form before it is opened. */
export const preloadForm = ChannelEditDrawer.preload;

/** The value of `edit` that means a new channel. */
const NEW = "new";

interface ChannelDrawerProps {
  open: string | null;
  edit: string | null;
  onEdit: (id: number | null) => void;
  onClose: () => void;
  onCreated: (id: number) => void;
}

/**
 * The drawer beside the list: a channel to read (`open`), or one to edit (`edit`, which takes precedence). Both are
 * ids as the address has them.
 */
export function ChannelDrawer(props: ChannelDrawerProps) {
  const { t } = useLingui();
  const { open, edit, onClose } = props;
  if (open === null && edit === null) return null;
  const title = edit === NEW ? t`添加渠道` : edit === null ? t({ message: "渠道", context: "singular" }) : t`编辑渠道`;
  const waiting = (
    <Drawer open onOpenChange={(next) => !next && onClose()} title={title} modal={false}>
      <FormSkeleton />
    </Drawer>
  );
  return (
    <WhileLoading show={waiting}>
      <DrawerContent {...props} />
    </WhileLoading>
  );
}

function DrawerContent({ open, edit, onEdit, onClose, onCreated }: ChannelDrawerProps) {
  const { t } = useLingui();
  if (edit === NEW) {
    return (
      <ChannelEditDrawer
        key={NEW}
        channel={undefined}
        onClose={onClose}
        onSaved={([first, ...more]) => {
          onEdit(null);
          // A single new channel is shown, with its test button at hand.
          if (first && more.length === 0) onCreated(first.id);
        }}
      />
    );
  }
  if (edit !== null) {
    return (
      <LoadedDrawer key={`edit ${edit}`} id={edit} title={t`编辑渠道`} fresh onClose={onClose}>
        {(channel) => <ChannelEditDrawer channel={channel} onClose={onClose} onSaved={() => onEdit(null)} />}
      </LoadedDrawer>
    );
  }
  if (open !== null) {
    return (
      <LoadedDrawer id={open} title={t({ message: "渠道", context: "singular" })} onClose={onClose}>
        {(channel) => <ChannelDetail channel={channel} onEdit={() => onEdit(channel.id)} onClose={onClose} />}
      </LoadedDrawer>
    );
  }
  return null;
}

/** Loads the channel, or shows that there is none. `fresh` waits for a new response instead of the cache. */
function LoadedDrawer({
  id,
  title,
  fresh = false,
  onClose,
  children,
}: {
  id: string;
  title: string;
  fresh?: boolean;
  onClose: () => void;
  children: (channel: ChannelView) => ReactNode;
}) {
  const query = useChannel(id, { fresh });
  if (query.data && (!fresh || query.isFetchedAfterMount)) return children(query.data);
  return (
    <Drawer open onOpenChange={(next) => !next && onClose()} title={title} modal={false}>
      {query.error ? <ErrorPanel error={query.error} onRetry={() => void query.refetch()} /> : <FormSkeleton />}
    </Drawer>
  );
}
