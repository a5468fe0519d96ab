import { useLingui } from "@lingui/react/macro";
import { Ellipsis } from "lucide-react";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuSeparator,
  DropdownMenuSub,
  DropdownMenuSubContent,
  DropdownMenuSubTrigger,
  DropdownMenuTrigger,
} from "../../ui/dropdown-menu";
import { IconButton } from "../../ui/icon-button";
import type { GridAction } from "./types";

/** The ⋯ of a row; a row without actions has none. */
export function RowMenu({
  actions,
  open,
  onOpenChange,
}: {
  actions: readonly GridAction[];
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const { t } = useLingui();
  if (actions.length === 0) return null;
  return (
    <DropdownMenu open={open} onOpenChange={onOpenChange}>
      <DropdownMenuTrigger asChild>
        <IconButton label={t`行菜单`} size="sm">
          <Ellipsis />
        </IconButton>
      </DropdownMenuTrigger>
      <DropdownMenuContent>
        {actions.map((action) => (
          <div key={action.id} role="none" title={action.hint}>
            {action.separated ? <DropdownMenuSeparator /> : null}
            {action.items ? (
              <DropdownMenuSub>
                <DropdownMenuSubTrigger icon={action.icon ? <action.icon aria-hidden /> : null}>
                  {action.label}
                </DropdownMenuSubTrigger>
                <DropdownMenuSubContent>
                  {action.items.map((item) => (
                    <ActionItem key={item.id} action={item} />
                  ))}
                </DropdownMenuSubContent>
              </DropdownMenuSub>
            ) : (
              <ActionItem action={action} />
            )}
          </div>
        ))}
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

function ActionItem({ action }: { action: GridAction }) {
  return (
    <DropdownMenuItem
      icon={action.icon ? <action.icon aria-hidden /> : null}
      danger={action.danger}
      disabled={action.disabled}
      shortcut={action.shortcut}
      onSelect={action.onSelect}
    >
      {action.label}
    </DropdownMenuItem>
  );
}
