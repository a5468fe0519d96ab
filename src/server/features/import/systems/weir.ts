/** Weir's own portable form (`weir export`): a table of each kind, whose rows are the neutral records themselves. */
import { CannotStart } from "../../../lib/cannot-start";
import type { Row } from "../../../db/foreign/source";
import type { SourceChannel, SourceCode, SourceToken, SourceUser } from "../records";
import type { System, TableUse } from "../system";
import { textOf } from "../values";

/** Name and version of the form, in its first line. A release reads every version up to its own. */
export const FORM = "weir";
export const FORM_VERSION = 1;

const recordsIn = <R>(table: string): TableUse<R> => ({
  table,
  key: "id",
  taken: ["id", "record"],
  read: ({ record }) => record as R,
}); // made by `weir export`

export const weir: System = {
  name: "weir",
  recognise: (catalogue) => (catalogue.has(FORM) ? "a file of weir export" : undefined),
  tables: () => ({
    users: recordsIn<SourceUser>("user"),
    tokens: { ...recordsIn<SourceToken>("token"), taken: ["id", "user", "record"], owner: "user" },
    channels: recordsIn<SourceChannel>("channel"),
    codes: recordsIn<SourceCode>("code"),
  }),
  prepare: async (source) => {
    const [first] = await source.rows(FORM, "id", undefined, 1);
    if (Number(first?.version) > FORM_VERSION)
      throw new CannotStart("the file was written by a later release of Weir: use that release.");
    return source;
  },
  options: async (source) => {
    const rows: Row[] = await source.rows("option", "id", undefined, 10_000);
    const values = new Map(rows.map((row) => [textOf(row, "id"), textOf(row, "value")]));
    return { values, left: [], differs: [], issuer: "", stated: ["ModelRatio", "CompletionRatio", "ModelPrice"] };
  },
  leftTables: { [FORM]: "the first line" },
};
