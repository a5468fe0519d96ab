import { useRef, useState } from "react";
import { baseUrlProblem, keyProblem, otherProblem, type ChannelType } from "../../../shared/channel-types";
import { errorText } from "../../../shared/errors";
import { faultOf } from "../../lib/errors";
import { currentLanguage } from "../../lib/i18n";
import { useOpening } from "../../lib/once";
import { trpc } from "../../lib/trpc";
import { preselect } from "./channel-choice";

/** What the last try of the connection said. */
export type Trial =
  | { kind: "listed"; milliseconds: number; count: number }
  /** The list cannot be asked for before the channel is saved; saving tests it by a real call. */
  | { kind: "on-save" }
  /** An address that is never tried: link-local, as clouds answer their own machines there. */
  | { kind: "forbidden" }
  | { kind: "failed"; message: string };

export type Problems = Partial<Record<"key" | "base_url" | "other" | "models", string>>;

export type FirstChannel = ReturnType<typeof useFirstChannel>;

/** The first channel while it is made: what is typed, the try of its connection, its saving and its test. */
export function useFirstChannel(type: ChannelType, onDone: () => void) {
  const language = currentLanguage();
  const [fields, setFields] = useState({ key: "", base_url: "", other: type.other?.default ?? "" });
  const [models, setModels] = useState<string[]>([...type.models]);
  const [offered, setOffered] = useState<readonly string[]>(type.models);
  const [problems, setProblems] = useState<Problems>({});
  const [trial, setTrial] = useState<Trial | null>(null);
  /** Set once the channel is stored: a further try changes it instead of making another. */
  const [savedId, setSavedId] = useState<number | null>(null);
  const [saveProblem, setSaveProblem] = useState<string | null>(null);
  const pasted = useRef(false);

  const list = trpc.channel.fetchModelsFrom.useMutation({ meta: { quiet: true } });
  const opening = useOpening();
  const create = trpc.channel.create.useMutation({ trpc: opening, meta: { quiet: true } });
  const update = trpc.channel.update.useMutation({ meta: { quiet: true } });
  const test = trpc.channel.test.useMutation({ meta: { quiet: true } });
  const saving = create.isPending || update.isPending || test.isPending;

  const check = (of: typeof fields): Problems => ({
    ...text(
      "key",
      type.key_format.optional && of.key.trim() === "" ? undefined : keyProblem(type.id, of.key)?.[language],
    ),
    ...text("base_url", baseUrlProblem(type.id, of.base_url)?.[language]),
    ...text("other", otherProblem(type.id, of.other)?.[language]),
  });

  const tryConnection = async (of: typeof fields) => {
    const found = check(of);
    setProblems(found);
    if (Object.keys(found).length > 0 || list.isPending) return;
    if (!type.fetch_models) return setTrial({ kind: "on-save" });
    setTrial(null);
    const started = performance.now();
    try {
      const names = await list.mutateAsync({ type: type.id, key: of.key.trim(), base_url: of.base_url.trim() });
      setTrial({ kind: "listed", milliseconds: performance.now() - started, count: names.length });
      setOffered([...new Set([...names, ...type.models])]);
      if (names.length > 0) setModels(preselect(type.models, names));
    } catch (error) {
      if (appCode(error) === "address_forbidden") setTrial({ kind: "forbidden" });
      else setTrial({ kind: "failed", message: faultOf(error).message });
    }
  };

  const save = async () => {
    if (saving) return;
    const found = {
      ...check(fields),
      ...text("models", models.length === 0 ? errorText("channel_models_missing", {}, language) : undefined),
    };
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    setSaveProblem(null);
    const values = { ...fields, key: fields.key.trim(), type: type.id, name: type.name[language], models };
    try {
      const channel =
        savedId === null ? (await create.mutateAsync(values))[0] : await update.mutateAsync({ ...values, id: savedId });
      if (!channel) return;
      setSavedId(channel.id);
      const result = await test.mutateAsync({ id: channel.id });
      if (result.success) onDone();
      else setSaveProblem(result.message);
    } catch (error) {
      setSaveProblem(faultOf(error).message);
    }
  };

  const change = (part: Partial<typeof fields>) => {
    const next = { ...fields, ...part };
    setFields(next);
    setTrial(null);
    if (pasted.current && part.key !== undefined && keyProblem(type.id, part.key) === undefined)
      void tryConnection(next);
    pasted.current = false;
  };

  return {
    fields,
    change,
    models,
    setModels,
    offered,
    problems,
    trial,
    trying: list.isPending,
    tryConnection: () => void tryConnection(fields),
    saved: savedId !== null,
    saving,
    testing: test.isPending,
    saveProblem,
    save: () => void save(),
    /** The next change of the key comes from the clipboard: a whole key is tried at once. */
    onPaste: () => (pasted.current = true),
  };
}

const text = (field: keyof Problems, message: string | undefined): Problems => (message ? { [field]: message } : {});

/** The error code of a refused call (shared/errors.ts). */
function appCode(error: unknown): unknown {
  const data: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "data") : undefined;
  return typeof data === "object" && data !== null ? Reflect.get(data, "app") : undefined;
}
