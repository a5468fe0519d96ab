import type { ReactNode } from "react";
import type { GridState } from "./grid-state";
import type { ExportFormat, GridAction, GridColumn, GridFilter, GridQuery, GridView } from "./types";

/** The rows that a bulk action is for. */
export interface GridSelection<R> {
  ids: string[];
  rows: R[];
  /** True when the user meant every row that matches the filters, also those on other pages. */
  allMatching: boolean;
  count: number;
  clear: () => void;
}

export interface DataGridProps<R extends object, F extends string> {
  grid: GridState<F>;
  /** Names the list for assistive technology. */
  label: string;
  /** Stable (useMemo): the first one is the name of the row and stays in sight. */
  columns: readonly GridColumn<R>[];
  rows: readonly R[] | undefined;
  rowId: (row: R) => string;
  /** All rows that match; null when unknown, then `hasMore` says whether a next page exists. */
  total: number | null | undefined;
  hasMore?: boolean;
  /** False when there are more than `total`; `hasMore` then says whether a next page exists. */
  totalExact?: boolean;
  /** For lists that page by key: the cursor of a row. The next page then begins after the last row of this one. */
  destinationOf?: (row: R) => string;
  /** Rows of this page as the pager counts them; fewer than `rows` when some stand below others. */
  shown?: number;
  query: GridQuery;
  /** The filter key that the search field writes, and its placeholder. */
  search?: { key: F; placeholder: string };
  filters?: readonly GridFilter[];
  views?: readonly GridView[];
  /** Further buttons of the toolbar; as a function they get the selection, also an empty one. */
  toolbar?: ReactNode | ((selection: GridSelection<R>) => ReactNode);
  /** Enter and a click on the row. */
  onOpen?: (row: R) => void;
  /** E. */
  onEdit?: (row: R) => void;
  /** C. */
  onCopy?: (row: R) => void;
  rowActions?: (row: R) => readonly GridAction[];
  /** Buttons that stand in the row before its menu. */
  rowButtons?: (row: R) => ReactNode;
  /** Pixels of the column with buttons and menu. */
  actionsWidth?: number;
  /** Rows can be selected when this is given. */
  bulkActions?: (selection: GridSelection<R>) => readonly GridAction[];
  /** Rows can be selected, and the toolbar acts on them: the boxes are always shown, no bar floats. */
  selectable?: boolean;
  /** Shows the boxes of a list that is not selectable at first; X does. */
  onStartSelecting?: () => void;
  /** Offers "select all matching". */
  bulkAllMatching?: boolean;
  /** Rows drawn on a darker ground, such as disabled ones. */
  shaded?: (row: R) => boolean;
  renderExpanded?: (row: R) => ReactNode;
  empty?: { title: string; description?: string; action?: ReactNode };
  /** Reads any page of the list under its filters; the whole list can then be exported. */
  readPage?: (page: number, pageSize: number) => Promise<readonly R[]>;
  /** A list that the server exports. */
  onExport?: (format: ExportFormat) => void;
}
