/**
 * The configuration file: channels and options of an installation as YAML (JSON is YAML too). Its sections of options
 * are made of the settings cards; docs/config-file.md is its reference.
 */
import * as z from "zod";
import { option, type OptionKey } from "../../../shared/options";
import { CannotStart } from "../../lib/cannot-start";
import { parseYaml } from "../../lib/yaml";
import { channelEntry } from "./channel-entry";

/** Raised when a file of the release before would be read differently. */
export const CONFIG_VERSION = 1;

/** The section that has an option: most are under `options`. */
const SECTION_OF_CARD: Readonly<Record<string, "groups" | "prices" | "models">> = {
  group: "groups",
  pricing: "prices",
  models: "models",
};
export const OPTION_SECTIONS = ["groups", "prices", "models", "options"] as const;
export type OptionSection = (typeof OPTION_SECTIONS)[number];
export const sectionOf = (key: OptionKey): OptionSection => SECTION_OF_CARD[option(key).card] ?? "options";

const members = z.record(z.string(), z.unknown()).optional();
const configFile = z.strictObject({
  version: z.literal(CONFIG_VERSION),
  groups: members,
  prices: members,
  models: members,
  options: members,
  channels: z.array(channelEntry).optional(),
});
export type ConfigFile = z.output<typeof configFile>;

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === "number" ? `${text}[${part}]` : text === "" ? String(part) : `${text}.${String(part)}`,
    "",
  );

/** Reads the text of a file. Throws CannotStart with every problem, each with its line or its path. */
export function parseConfig(text: string, name: string): ConfigFile {
  const content = parseYaml(text, name);
  const parsed = configFile.safeParse(content);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${pathText(path) || "the file"}: ${message}`);
  throw refusal(name, problems);
}

export const refusal = (name: string, problems: readonly string[]): CannotStart =>
  new CannotStart(`${name} was refused, nothing was changed:\n${problems.map((one) => `  ${one}`).join("\n")}`);

const HEAD = `# Configuration of Weir. \`weir config diff FILE\` compares it with an installation, \`weir config apply FILE\` brings it there.
# Settings and channels that are not named stay as they are. A secret is named, never written: {env: NAME} or {file: PATH}.
# Without a value there, the stored secret stays.`;

const indented = (value: unknown): string =>
  Bun.YAML.stringify(value, null, 2)
    .trimEnd()
    .split("\n")
    .map((line) => `  ${line}`.trimEnd())
    .join("\n");

/** The file with comments. */
export function printConfig({ channels, ...file }: ConfigFile): string {
  const sections = OPTION_SECTIONS.flatMap((section) => {
    const values = Object.entries(file[section] ?? {});
    if (values.length === 0) return [];
    const lines = values.map(
      ([key, value]) => `  # ${option(key as OptionKey).label.en}\n${indented({ [key]: value })}`,
    );
    return [`${section}:\n${lines.join("\n")}`];
  });
  const entries = (channels ?? []).map((entry) => indented([entry]));
  const list = entries.length === 0 ? [] : [`channels:\n${entries.join("\n")}`];
  return `${[`${HEAD}\nversion: ${CONFIG_VERSION}`, ...sections, ...list].join("\n\n")}\n`;
}
