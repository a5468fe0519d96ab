/**
 * Models that think without sending an event: their streams may be silent for minutes before the first, so no time-out
 * of the first event holds for them. Others show their thoughts, or say at once that the answer has begun.
 */

interface SilentModel {
  /** Matches the name that the upstream knows, without a vendor's prefix. */
  readonly model: RegExp;
  /** Where the silence is told of. */
  readonly source: string;
  /** The month in which the source was read. */
  readonly seen: string;
}

const seen = "2026-11";

const SILENT_MODELS: readonly SilentModel[] = [
  // OpenAI's reasoning models, over chat completions.
  { model: /^o[1-9](?:-|$)/, source: "https://github.com/mezmo/aura/issues/62", seen },
  { model: /^gpt-[5-9](?!.*-chat)/, source: "https://github.com/mezmo/aura/issues/62", seen },
  { model: /^codex-|-codex(?:-|$)/, source: "https://github.com/mezmo/aura/issues/62", seen },
  {
    model: /^grok-(?:[4-9]|code)(?!.*non-reasoning)/,
    source: "https://docs.x.ai/developers/model-capabilities/text/best-practices.md",
    seen,
  },
];

/** Whether a model may be silent for long before the first event of its stream. `model`: the upstream's name of it. */
export function thinksInSilence(model: string): boolean {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return SILENT_MODELS.some((silent) => silent.model.test(name));
}
