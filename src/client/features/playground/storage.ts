/** What the playground keeps in this browser: the settings last used and the conversations, by user. */
import { readStoredJson, writeStored } from "../../lib/storage";
import type { Answer, Conversation } from "./conversation";

const DEFAULT_MODEL = "gpt-4o-mini";
/** Models that can be compared. */
export const MAX_MODELS = 3;
const MAX_CONVERSATIONS = 30;
/** Characters of all conversations together; local storage holds some five million. */
const MAX_CHARACTERS = 2_500_000;

export interface Settings {
  /** "" until chosen: the user's own. */
  group: string;
  /** One, or up to MAX_MODELS that are compared; empty until chosen. */
  models: string[];
  temperature: number;
  /** 0 = no limit. */
  max_tokens: number;
  system: string;
}

export const DEFAULT_SETTINGS: Settings = { group: "", models: [], temperature: 0, max_tokens: 0, system: "" };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";

const isSettings = (value: unknown): value is Settings =>
  isObject(value) &&
  isText(value.group) &&
  Array.isArray(value.models) &&
  value.models.every(isText) &&
  typeof value.temperature === "number" &&
  typeof value.max_tokens === "number" &&
  isText(value.system);

const isAnswer = (value: unknown): value is Answer =>
  isObject(value) &&
  isText(value.id) &&
  isText(value.model) &&
  isText(value.text) &&
  isText(value.reasoning) &&
  Array.isArray(value.tools) &&
  value.tools.every((tool) => isObject(tool) && isText(tool.name) && isText(tool.arguments));

const isConversations = (value: unknown): value is Conversation[] =>
  Array.isArray(value) &&
  value.every(
    (item) =>
      isObject(item) &&
      isText(item.id) &&
      typeof item.updated === "number" &&
      Array.isArray(item.turns) &&
      item.turns.every(
        (turn) =>
          isObject(turn) &&
          isText(turn.id) &&
          isText(turn.text) &&
          Array.isArray(turn.images) &&
          turn.images.every(isText) &&
          Array.isArray(turn.answers) &&
          turn.answers.every(isAnswer),
      ),
  );

export const readSettings = (userId: number): Settings =>
  readStoredJson(`playground-settings:${userId}`, isSettings) ?? DEFAULT_SETTINGS;

export const writeSettings = (userId: number, settings: Settings): void =>
  writeStored(`playground-settings:${userId}`, JSON.stringify(settings));

/** The kept conversations, newest first. An answer that was under way when the page was left is incomplete. */
export function readConversations(userId: number): Conversation[] {
  const kept = readStoredJson(`playground:${userId}`, isConversations) ?? [];
  return kept.map((conversation) => ({
    ...conversation,
    turns: conversation.turns.map((turn) => ({
      ...turn,
      answers: turn.answers.map((answer) => (answer.state === "loading" ? { ...answer, state: "incomplete" } : answer)),
    })),
  }));
}

/** Keeps the newest conversations, as many as there is room for; pictures give way first. */
export function writeConversations(userId: number, conversations: readonly Conversation[]): void {
  const kept: string[] = [];
  let room = MAX_CHARACTERS;
  const begun = conversations.filter(({ turns }) => turns.length > 0).toSorted((a, b) => b.updated - a.updated);
  for (const conversation of begun.slice(0, MAX_CONVERSATIONS)) {
    let text = JSON.stringify(conversation);
    if (text.length > room) {
      text = JSON.stringify({ ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, images: [] })) });
    }
    if (text.length > room) continue;
    room -= text.length;
    kept.push(text);
  }
  writeStored(`playground:${userId}`, kept.length > 0 ? `[${kept.join(",")}]` : null);
}

/** The models of a call: the chosen ones that can still be used, else gpt-4o-mini, else the first there is (C-651). */
export function usableModels(chosen: readonly string[], usable: readonly string[]): string[] {
  const left = chosen.filter((model) => usable.includes(model)).slice(0, MAX_MODELS);
  if (left.length > 0) return left;
  const fallback = usable.includes(DEFAULT_MODEL) ? DEFAULT_MODEL : usable[0];
  return fallback === undefined ? [] : [fallback];
}
