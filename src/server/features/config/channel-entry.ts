/** A channel as an entry of the configuration file, and as columns. A field is one line in FIELDS. */
import * as z from "zod";
import { CHANNEL_LIMITS, CHANNEL_STATUS, type ChannelFields, jsonObject, splitList } from "../../../shared/channel";
import { MULTI_KEY_MODES } from "../../../shared/channel-keys";
import { channelType, channelTypes, otherOrDefault } from "../../../shared/channel-types";
import { DEFAULT_GROUP } from "../../../shared/group";
import type { ChannelRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";
import { maskColumns, openColumns } from "../channel/sealed";
import { columnsOf } from "../channel/service";
import { isMembers, type Members, same, sorted } from "./json";
import { envRef, type ReadSecret, type SecretRef, secretRef } from "./secret-refs";

const text = (max: number = CHANNEL_LIMITS.text) => z.string().max(max);
const whole = z.int().min(CHANNEL_LIMITS.priority_min).max(CHANNEL_LIMITS.number_max);

/** Kinds of columns: how one stands in the file, and in the row. */
const KINDS = {
  text: { toFile: (column: unknown) => column, toColumn: (value: unknown) => value },
  whole: { toFile: (column: unknown) => column, toColumn: (value: unknown) => value },
  flag: { toFile: (column: unknown) => column !== 0, toColumn: (value: unknown) => (value === true ? 1 : 0) },
  list: {
    toFile: (column: unknown) => splitList(String(column)),
    toColumn: (value: unknown) => (Array.isArray(value) ? value.join(",") : value),
  },
  object: {
    toFile: (column: unknown) => sorted(jsonObject(String(column)) ?? column),
    toColumn: (value: unknown) => (isMembers(value) && Object.keys(value).length > 0 ? JSON.stringify(value) : ""),
  },
} as const;

const members = z.record(z.string(), z.unknown());

/** Name in the file: its column, its kind, its value when it is absent, what is accepted. In the file's order. */
const FIELDS = {
  base_url: { column: "base_url", kind: "text", absent: "", shape: text(2048) },
  other: { column: "other", kind: "text", absent: "", shape: text() },
  models: { column: "models", kind: "list", absent: [], shape: z.array(text()) },
  groups: { column: "group", kind: "list", absent: [DEFAULT_GROUP], shape: z.array(text(2048)) },
  model_mapping: { column: "model_mapping", kind: "object", absent: {}, shape: members },
  status_code_mapping: { column: "status_code_mapping", kind: "object", absent: {}, shape: members },
  setting: { column: "setting", kind: "object", absent: {}, shape: members },
  param_override: { column: "param_override", kind: "object", absent: {}, shape: members },
  header_override: { column: "header_override", kind: "object", absent: {}, shape: members },
  test_model: { column: "test_model", kind: "text", absent: "", shape: text(CHANNEL_LIMITS.model) },
  auto_ban: { column: "auto_ban", kind: "flag", absent: true, shape: z.boolean() },
  tag: { column: "tag", kind: "text", absent: "", shape: text(200) },
  priority: { column: "priority", kind: "whole", absent: 0, shape: whole },
  weight: { column: "weight", kind: "whole", absent: 0, shape: whole.min(0) },
  openai_organization: { column: "openai_organization", kind: "text", absent: "", shape: text(200) },
  max_input_tokens: { column: "max_input_tokens", kind: "whole", absent: 0, shape: whole.min(0) },
  multi_key_mode: { column: "multi_key_mode", kind: "text", absent: "", shape: z.enum(["", ...MULTI_KEY_MODES]) },
} as const;
type FieldName = keyof typeof FIELDS;
const FIELD_NAMES = Object.keys(FIELDS) as FieldName[]; // its own keys

const shapes = Object.fromEntries(FIELD_NAMES.map((name) => [name, FIELDS[name].shape.optional()])) as {
  [Name in FieldName]: z.ZodOptional<(typeof FIELDS)[Name]["shape"]>;
};

/** Members of JSON columns whose value may be a secret: the proxy, and every header. */
const isSecretPlace = (field: FieldName, member: string): boolean =>
  field === "header_override" || (field === "setting" && member === "proxy");

export const channelEntry = z.strictObject({
  /** Where several channels share a name, or one is renamed. */
  id: z.int().positive().optional(),
  name: z.string().trim().min(1).max(CHANNEL_LIMITS.name),
  type: z.enum(channelTypes.map(({ key }) => key)),
  enabled: z.boolean().optional(),
  ...shapes,
  /** Its text is the channel's key; one key a line where multi_key_mode says so. */
  key: secretRef.optional(),
});
export type ChannelEntry = z.output<typeof channelEntry>;

const typeId = (key: string): number => channelTypes.find((type) => type.key === key)?.id ?? 0;

const absentOf = (name: FieldName, type: number): unknown =>
  name === "other" ? otherOrDefault(type, "") : FIELDS[name].absent;

/** What a row says, as the file says it; secret members as `secret` writes them. */
function valuesOf(
  secrets: Secrets,
  row: ChannelRow,
  secret: (clear: unknown, field: FieldName, member: string) => unknown,
): Record<FieldName, unknown> {
  const [clear, masked] = [openColumns(secrets, row), maskColumns(row)];
  const entries = FIELD_NAMES.map((name) => {
    const { column, kind } = FIELDS[name];
    const [open, shown] = [KINDS[kind].toFile(clear[column]), KINDS[kind].toFile(masked[column])];
    if (!isMembers(open) || !isMembers(shown)) return [name, open];
    const values = Object.entries(open).map(([member, value]) => [
      member,
      same(value, shown[member]) ? value : secret(value, name, member),
    ]);
    return [name, Object.fromEntries(values)];
  });
  return Object.fromEntries(entries) as Record<FieldName, unknown>; // one for each name
}

const isEnabled = ({ status }: Pick<ChannelRow, "status">): boolean => status !== CHANNEL_STATUS.disabled;

/** The entry of a stored channel. `withId`: its name alone does not find it. */
export function entryOf(secrets: Secrets, row: ChannelRow, withId: boolean, hasKey: boolean): ChannelEntry | undefined {
  const type = channelType(row.type);
  if (!type) return undefined;
  const values = valuesOf(secrets, row, (_, field, member) =>
    envRef("channel", row.id, ...(field === "setting" ? [member] : ["header", member])),
  );
  const said = FIELD_NAMES.filter((name) => !same(values[name], absentOf(name, row.type)));
  return channelEntry.parse({
    ...(withId && { id: row.id }),
    name: row.name,
    type: type.key,
    ...(!isEnabled(row) && { enabled: false }),
    ...Object.fromEntries(said.map((name) => [name, values[name]])),
    ...(hasKey && { key: envRef("channel", row.id, "key") }),
  });
}

/** What an entry wants: the fields of the form with secrets in clear, and what of them differs from a stored row. */
export interface Wanted {
  fields: ChannelFields;
  /** Both sides as the file has them, with secrets in clear: for comparing, never for showing. */
  before: Members;
  after: Members;
  /** Paths below these are secret. */
  secret: ReadonlySet<string>;
  /** References without a value, whose stored secret stays. */
  kept: SecretRef[];
  /** References without a value where none is stored. */
  missing: SecretRef[];
}

/** Compares an entry with its row, if there is one. A field that is absent has the value of a new channel. */
export function wantedOf(secrets: Secrets, entry: ChannelEntry, row: ChannelRow | undefined, read: ReadSecret): Wanted {
  const type = typeId(entry.type);
  const secret = new Set<string>();
  const [kept, missing]: [SecretRef[], SecretRef[]] = [[], []];
  const stored =
    row &&
    valuesOf(secrets, row, (clear, field, member) => {
      secret.add(`${field}.${member}`);
      return clear;
    });
  const shown = row && maskColumns(row);
  const withSecrets = (field: FieldName, values: Members): [Members, Members] => {
    const clear: Record<string, unknown> = { ...values };
    const sent: Record<string, unknown> = { ...values };
    for (const [member, value] of Object.entries(values)) {
      const ref = isSecretPlace(field, member) ? secretRef.safeParse(value) : undefined;
      if (!ref?.success) continue;
      secret.add(`${field}.${member}`);
      const given = read(ref.data);
      const before = stored?.[field];
      if (given !== undefined) clear[member] = sent[member] = given;
      else if (isMembers(before) && Object.hasOwn(before, member)) {
        kept.push(ref.data);
        clear[member] = before[member];
        // Its mask stands for the stored value.
        sent[member] = jsonObject(shown?.[FIELDS[field].column as "setting" | "header_override"] ?? "")?.[member];
      } else missing.push(ref.data);
    }
    return [clear, sent];
  };
  const after: Record<string, unknown> = {};
  const columns: Record<string, unknown> = {};
  for (const name of FIELD_NAMES) {
    const value = entry[name] ?? absentOf(name, type);
    const [clear, sent] = isMembers(value) ? withSecrets(name, value) : [value, value];
    after[name] = clear;
    columns[FIELDS[name].column] = KINDS[FIELDS[name].kind].toColumn(sent);
  }
  const enabled = entry.enabled ?? true;
  const status = enabled ? CHANNEL_STATUS.enabled : CHANNEL_STATUS.disabled;
  const fields = { ...(columns as ChannelFields), name: entry.name, type, status };
  // As it would be stored: addresses and lists are tidied.
  const tidy: Members = columnsOf(fields, type);
  for (const name of FIELD_NAMES) {
    const { column, kind } = FIELDS[name];
    if (kind !== "object") after[name] = KINDS[kind].toFile(tidy[column]);
  }
  return {
    fields,
    before:
      row && stored
        ? { name: row.name, type: channelType(row.type)?.key ?? row.type, enabled: isEnabled(row), ...stored }
        : {},
    after: { name: entry.name, type: entry.type, enabled, ...after },
    secret,
    kept,
    missing,
  };
}

/** The column that a difference's first member is stored in, as the form's field. */
export const fieldOf = (member: string): keyof ChannelFields =>
  member === "enabled"
    ? "status"
    : member in FIELDS
      ? FIELDS[member as FieldName].column
      : (member as keyof ChannelFields);
