import { t } from "@lingui/core/macro";
import { createContext, useCallback, useContext, useMemo, useState } from "react";
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import type { OptionKey } from "../../../shared/options";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { loadStatus } from "../../lib/status";
import { toastError, toastInfo, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { loadChecks, type OptionChecks, useOptionChecks } from "./option-checks";
import { changedKeys, type Drafts, nameOf, needsOf, problemOf, startText, type Stored } from "./setting-values";

/** The state of all settings of a page: what is typed, what is wrong, and the save. */
export interface SettingsState {
  stored: Stored;
  text: (key: OptionKey) => string;
  isSet: (key: OptionKey) => boolean;
  /** undefined takes back what was typed. `blocked`: why it must not be saved although it could be read. */
  change: (key: OptionKey, text: string | undefined, blocked?: string) => void;
  problem: (key: OptionKey) => string | undefined;
  /** What checks a text; undefined until it has been fetched: where JSON is shown, and when something is typed. */
  checks: OptionChecks | undefined;
  /** Those of the keys that differ from what is stored. */
  changed: (keys: readonly OptionKey[]) => OptionKey[];
  /** One call per changed option, one after the other. */
  save: (keys: readonly OptionKey[]) => Promise<void>;
  saving: boolean;
  discard: () => void;
  /** Grows with each discard: tables then show what is stored again. */
  generation: number;
}

const Context = createContext<SettingsState | null>(null);
export const SettingsProvider = Context.Provider;

export function useSettings(): SettingsState {
  const state = useContext(Context);
  if (!state) throw new Error("useSettings outside SettingsProvider");
  return state;
}

/** `check`: texts are checked before anything is typed. */
export function useSettingsState(stored: Stored, check: boolean): SettingsState {
  const utils = trpc.useUtils();
  const setting = trpc.option.set.useMutation({ meta: { quiet: true }, gcTime: 0 });
  const [drafts, setDrafts] = useState<Drafts>({});
  /** What the server, or the last save, complained about. */
  const [problems, setProblems] = useState<Drafts>({});
  const [blocks, setBlocks] = useState<Drafts>({});
  const [generation, setGeneration] = useState(0);
  const [saving, setSaving] = useState(false);
  const checks = useOptionChecks(check || Object.keys(drafts).length > 0);

  // Formatting the price tables on every keystroke would be noticeably slow.
  const starts = useMemo(
    () => new Map(optionKeys.map((key) => [key, optionFacts[key].secret ? "" : startText(key, stored)])),
    [stored],
  );

  const change = useCallback((key: OptionKey, text: string | undefined, blocked?: string) => {
    setDrafts(({ [key]: _old, ...rest }) => (text === undefined ? rest : { ...rest, [key]: text }));
    setProblems(({ [key]: _old, ...rest }) => rest);
    setBlocks(({ [key]: _old, ...rest }) => (blocked === undefined ? rest : { ...rest, [key]: blocked }));
  }, []);

  /** The first complaints of all; {} when everything may be sent. */
  const complaints = (keys: readonly OptionKey[], loaded: OptionChecks): Drafts => {
    const lang = currentLanguage();
    const found: Drafts = {};
    for (const key of keys) {
      const draft = drafts[key] ?? "";
      const missing = needsOf(key, draft, stored, drafts, keys)
        .map((needed) => nameOf(needed, lang))
        .join("、");
      const problem =
        blocks[key] ?? problemOf(key, draft, lang, loaded) ?? (missing ? t`无法启用，请先填写：${missing}` : undefined);
      if (problem) found[key] = problem;
    }
    return found;
  };

  const save = async (among: readonly OptionKey[]): Promise<void> => {
    if (saving) return;
    setSaving(true);
    const loaded = await loadChecks().catch(() => undefined);
    if (loaded) await saveChecked(among, loaded);
    else toastError(t`保存失败，请重试`);
    setSaving(false);
  };

  const saveChecked = async (among: readonly OptionKey[], loaded: OptionChecks): Promise<void> => {
    const keys = changedKeys(among, stored, drafts, loaded);
    if (keys.length === 0) {
      toastInfo(t`你似乎并没有修改什么`);
      return;
    }
    const wrong = complaints(keys, loaded);
    setProblems((current) => ({ ...current, ...wrong }));
    const [first] = Object.values(wrong);
    if (first !== undefined) {
      toastError(first);
      return;
    }
    const failed: Drafts = {};
    for (const key of keys) {
      const value = drafts[key] ?? "";
      try {
        await setting.mutateAsync({ key, value });
        utils.option.settings.setData(undefined, (current) => current && withValue(current, key, value));
        setDrafts(({ [key]: sent, ...rest }) =>
          sent === undefined || sent === value ? rest : { ...rest, [key]: sent },
        );
      } catch (error) {
        failed[key] = faultOf(error).message;
      }
    }
    setProblems((current) => ({ ...current, ...failed }));
    report(
      keys,
      Object.keys(failed).map((key) => nameOf(key as OptionKey, currentLanguage())),
    ); // keys of Drafts
    void utils.option.invalidate();
    void loadStatus();
  };

  return {
    stored,
    text: (key) => drafts[key] ?? starts.get(key) ?? "",
    isSet: (key) => stored.set.includes(key),
    change,
    problem: (key) => problems[key] ?? blocks[key],
    checks,
    changed: (keys) => changedKeys(keys, stored, drafts, checks),
    save,
    saving,
    discard: () => {
      setDrafts({});
      setProblems({});
      setBlocks({});
      setGeneration(generation + 1);
    },
    generation,
  };
}

/** A-477, A-478: all, some or none of the options were saved; those that were not are named. */
function report(keys: readonly OptionKey[], failed: readonly string[]): void {
  const names = failed.join("、");
  if (failed.length === 0) toastSuccess(t`保存成功`);
  else if (failed.length === keys.length && keys.length === 1) toastError(t`保存失败，请重试`);
  else toastError(`${t`部分保存失败，请重试`}：${names}`);
}

/** What the server has now, without asking again; a secret only as set or not. */
function withValue(stored: Stored, key: OptionKey, value: string) {
  if (!optionFacts[key].secret) return { values: { ...stored.values, [key]: value }, set: [...stored.set] };
  const others = stored.set.filter((name) => name !== key);
  return { values: stored.values, set: value === "" ? others : [...others, key] };
}
