import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { MAX_LIST_SIZE } from "../../../shared/list-size";

export type ExportFormat = "csv" | "jsonl";

/** A value in an exported file; a time is written in ISO 8601. */
export type ExportedValue = string | number | boolean | Date | null;

/** Epoch seconds as an exported value; what never was is null. */
export const timeValue = (seconds: number): Date | null => (seconds > 0 ? new Date(seconds * 1000) : null);

/** A column of a list. */
export interface GridColumn<Row> {
  /** Unique in the list; also the field that `sort` names, unless `sortKey` says another. */
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Pixels at first; 140 when absent. */
  width?: number;
  minWidth?: number;
  align?: "start" | "end";
  /** The server can sort by it. */
  sortable?: boolean;
  sortKey?: string;
  /** Takes the room that is left over; one column at most. */
  grow?: boolean;
  /** Hidden until the user shows it. */
  hidden?: boolean;
  /** Cannot be hidden. */
  fixed?: boolean;
  /** What an exported file has of it, by the names on the wire, the same ones for every row; no secrets. */
  exported?: (row: Row) => Readonly<Record<string, ExportedValue>>;
  /** Its place on the card that a row becomes on a phone; columns without one are left out there. */
  card?: "title" | "status" | "fact";
}

/** Something that can be done to a row or to several. */
export interface GridAction {
  id: string;
  label: string;
  icon?: LucideIcon;
  onSelect: () => void;
  danger?: boolean;
  disabled?: boolean;
  /** Why it is disabled. */
  hint?: string;
  shortcut?: string;
  /** A line above this action. */
  separated?: boolean;
  /** Opens a menu of these instead; `onSelect` is not called. */
  items?: readonly GridAction[];
}

/** A field of the filter panel; its value lives in the address under `key`. */
export type GridFilter = { key: string; label: string } & (
  | { kind: "text"; placeholder?: string }
  | { kind: "choice"; options: readonly { value: string; label: string }[] }
  /** Epoch seconds as text. `unset`: the value follows from another filter and is none of its own. */
  | { kind: "time"; unset?: boolean }
  /** A control of the list's own, and how a value reads. */
  | { kind: "own"; control: (props: FilterControlProps) => ReactNode; shown: (value: string) => ReactNode }
);

/** What the control of a filter gets. */
export interface FilterControlProps {
  id: string;
  value: string;
  onChange: (value: string) => void;
}

/** A named set of filters and sorting that the list brings along. */
export interface GridView {
  id: string;
  title: string;
  filters: Readonly<Record<string, string>>;
  sort?: string;
}

/** The part of a query's answer that the grid watches; any TanStack Query result fits. */
export interface GridQuery {
  error: unknown;
  /** True until the first answer. */
  isPending: boolean;
  isFetching: boolean;
  /** True while rows of another page are shown. */
  isPlaceholderData?: boolean;
  /** True while the browser is offline and the rows asked for cannot be loaded. */
  isPaused?: boolean;
  refetch: () => unknown;
}

export type Density = "compact" | "default" | "roomy";

export const ROW_HEIGHT: Readonly<Record<Density, number>> = { compact: 32, default: 40, roomy: 52 };

/** What the user chooses from (C-625). */
export const PAGE_SIZES = [10, 20, 50, 100] as const;
/** What an address may ask for besides (`?size=500`). */
export const LONG_PAGES = [200, MAX_LIST_SIZE] as const;
