/** What an importer knows of one system: how it is recognised, and what its tables and columns become. */
import type { OptionKey } from "../../../shared/options";
import type {
  Left,
  SourceChannel,
  SourceCode,
  SourceJob,
  SourceLog,
  SourceOrder,
  SourceToken,
  SourceUser,
} from "./records";
import type { Catalogue, Row, Source } from "../../db/foreign/source";

/** Secrets of the source come from here, never from an argument. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A table and what its rows become. Columns that hold something and are not named here are reported. */
export interface TableUse<R> {
  table: string;
  /** Its unique, growing key. */
  key: string;
  /** Columns that are read. */
  taken: readonly string[];
  /** Columns that are left on purpose -> why. */
  left?: Readonly<Record<string, string>>;
  read(row: Row): R | Left;
}

/** Where the calls of a source stand, for the shadow run: its last ones have the highest keys. */
export interface CallTable extends Pick<TableUse<SourceLog>, "table" | "key"> {
  read(
    row: Row,
  ):
    | Pick<
        SourceLog,
        | "id"
        | "type"
        | "model_name"
        | "group"
        | "quota"
        | "prompt_tokens"
        | "completion_tokens"
        | "cache_read"
        | "cache_write"
      >
    | Left;
}

export interface SystemTables {
  users: TableUse<SourceUser>;
  tokens: TableUse<SourceToken> & { owner: string };
  channels: TableUse<SourceChannel>;
  codes?: TableUse<SourceCode>;
  logs?: TableUse<SourceLog>;
  orders?: TableUse<SourceOrder>;
  drawings?: TableUse<SourceJob>;
  tasks?: TableUse<SourceJob>;
}

export interface SourceOptions {
  /** Option here -> its text. */
  values: ReadonlyMap<string, string>;
  /** What is left, in words. */
  left: readonly string[];
  /** What means something else here, in words. */
  differs: readonly string[];
  /** The issuer of its OpenID Connect provider, "" for none. */
  issuer: string;
  /** Names of the price tables that the source states itself; its built-in prices are not known. */
  stated: readonly string[];
}

export interface System {
  readonly name: "new-api" | "one-api" | "one-hub" | "litellm" | "weir";
  /** What a catalogue was recognised by; undefined: it is another system's. */
  recognise(catalogue: Catalogue): string | undefined;
  /** Joins what one table alone does not tell; else the source is read as it is. */
  prepare?(source: Source, catalogue: Catalogue, env: Environment): Promise<Source>;
  /**
   * `asked`: `issuer`, `units` (per dollar: the source's own number, or the one here), and the answers to decisions
   * that reading depends on.
   */
  tables(catalogue: Catalogue, asked: Readonly<Record<string, string>>): SystemTables;
  /** Calls that are charged again by the shadow run, where the log itself is not taken; `units` per dollar. */
  calls?(units: number): CallTable;
  /** `here`: texts of the options as they are. */
  options(source: Source, catalogue: Catalogue, here: (key: OptionKey) => string): Promise<SourceOptions>;
  /** Other tables -> why they are left. */
  readonly leftTables: Readonly<Record<string, string>>;
}
