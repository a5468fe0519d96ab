/** A virtual model while it is edited: what the fields hold, and the option's entry that they stand for. */
import { type StepReason, stepReasons, type VirtualModel, type VirtualModels } from "../../../shared/virtual-models";

export interface StepDraft {
  /** Unique in its form. */
  readonly id: number;
  readonly model: string | null;
  /** null: the caller's. */
  readonly group: string | null;
  readonly weight: number | null;
  readonly on: readonly StepReason[];
  readonly max_input_tokens: number | null;
}

export interface VirtualDraft {
  readonly name: string;
  readonly fixed: boolean;
  /** The first step is drawn by weight. */
  readonly weighted: boolean;
  readonly steps: readonly StepDraft[];
}

/** A step that is taken for every reason. */
export const emptyStep = (id: number): StepDraft => ({
  id,
  model: null,
  group: null,
  weight: 1,
  on: stepReasons,
  max_input_tokens: null,
});

export const draftOf = (name: string, virtual: VirtualModel | undefined): VirtualDraft => ({
  name,
  fixed: virtual?.fixed_price === true,
  weighted: virtual?.steps[0]?.weight !== undefined,
  steps: virtual
    ? virtual.steps.map((step, id) => ({
        id,
        model: step.model,
        group: step.group ?? null,
        weight: step.weight ?? 1,
        on: step.on ?? stepReasons,
        max_input_tokens: step.max_input_tokens ?? null,
      }))
    : [emptyStep(0)],
});

/** The entry of the option; what is left at its default is left out. */
const entryOf = ({ fixed, weighted, steps }: VirtualDraft): VirtualModel => ({
  steps: steps.map(({ model, group, weight, on, max_input_tokens }) => ({
    model: model ?? "",
    ...(group !== null && { group }),
    ...(weighted && { weight: weight ?? 0 }),
    ...(on.length < stepReasons.length && { on: stepReasons.filter((reason) => on.includes(reason)) }),
    ...(max_input_tokens !== null && { max_input_tokens }),
  })),
  ...(fixed && { fixed_price: true }),
});

/** The option with the draft in the place of `before`, the name that it was opened by; null: it is new. */
export function withDraft(all: VirtualModels, before: string | null, draft: VirtualDraft): VirtualModels {
  const name = draft.name.trim();
  const entry = entryOf(draft);
  if (before === null || !Object.hasOwn(all, before)) return { ...all, [name]: entry };
  return Object.fromEntries(Object.entries(all).map(([key, value]) => (key === before ? [name, entry] : [key, value])));
}
