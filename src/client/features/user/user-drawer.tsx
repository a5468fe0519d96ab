import { useLingui } from "@lingui/react/macro";
import { NEW } from "../../components/data-grid/grid-state";
import { ErrorPanel } from "../../components/error-panel";
import { trpc } from "../../lib/trpc";
import { Drawer } from "../../ui/drawer";
import { Skeleton } from "../../ui/skeleton";
import { UserEdit } from "./user-edit";
import { UserNew } from "./user-new";

export interface UserDrawerProps {
  /** An id, or NEW. */
  edit: string;
  onEdit: (id: number | null) => void;
}

/** The drawer beside the list: the form of a new account, or all about a stored one. */
export default function UserDrawer({ edit, onEdit }: UserDrawerProps) {
  const close = () => onEdit(null);
  return edit === NEW ? <UserNew onClose={close} /> : <StoredUserDrawer key={edit} id={edit} onClose={close} />;
}

/** Brings the account as the server has it now, and says so when there is none, or none for this administrator. */
function StoredUserDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { t } = useLingui();
  const number = /^\d{1,15}$/.test(id) ? Number(id) : 0;
  const query = trpc.user.get.useQuery(
    // No account has this id: the server says that there is none.
    { id: number > 0 ? number : Number.MAX_SAFE_INTEGER },
    { meta: { quiet: true }, refetchOnMount: "always" },
  );
  if (query.data && query.isFetchedAfterMount) return <UserEdit user={query.data} onClose={onClose} />;
  return (
    <Drawer open modal={false} onOpenChange={(open) => !open && onClose()} title={t`用户`}>
      {query.error ? (
        <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div aria-hidden className="grid gap-4">
          {Array.from({ length: 6 }, (_, index) => (
            <Skeleton key={index} className="h-8" />
          ))}
        </div>
      )}
    </Drawer>
  );
}
