import { useCallback, useEffect, useReducer, useRef, useState, type RefObject } from "react";
import { trpc } from "../../lib/trpc";
import { billOf, runAnswer } from "./answer-run";
import type { ChatBody } from "./chat-call";
import {
  type Answer,
  branchAt,
  type Conversation,
  messagesFor,
  newAnswer,
  newConversation,
  newTurn,
  type Turn,
  turnsBefore,
} from "./conversation";
import { openLibrary, reduce } from "./library";
import { readSettings, type Settings, writeConversations, writeSettings } from "./storage";

/** The settings last used by this user in this browser, and their change. */
export function useSettings(userId: number) {
  const [settings, set] = useState(() => readSettings(userId));
  const change = useCallback(
    (part: Partial<Settings>) =>
      set((before) => {
        const next = { ...before, ...part };
        writeSettings(userId, next);
        return next;
      }),
    [userId],
  );
  return [settings, change] as const;
}

/** Keeps the conversations in this browser: a moment after a change, and at the latest when the page is left. */
function useKept(userId: number, conversations: Conversation[], calls: RefObject<Map<string, AbortController>>): void {
  useEffect(() => {
    const timer = setTimeout(() => writeConversations(userId, conversations), 400);
    return () => clearTimeout(timer);
  }, [userId, conversations]);
  const latest = useRef(conversations);
  latest.current = conversations;
  useEffect(() => {
    const keep = () => writeConversations(userId, latest.current);
    const open = calls.current;
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      keep();
      for (const call of open.values()) call.abort();
    };
  }, [userId, calls]);
}

/**
 * The state and the verbs of the playground. `settings` are those in force: a group and models that can be used now.
 */
export function usePlayground(userId: number, settings: Settings) {
  const { client } = trpc.useUtils();
  const { models } = settings;
  const [library, dispatch] = useReducer(reduce, userId, openLibrary);
  const [running, setRunning] = useState<ReadonlySet<string>>(new Set());
  const calls = useRef(new Map<string, AbortController>());
  const conversation = library.conversations.find((item) => item.id === library.current) ?? newConversation();
  useKept(userId, library.conversations, calls);

  const bodyFor = (turns: readonly Turn[], lane: number, model: string): ChatBody => ({
    messages: messagesFor(turns, lane, settings.system),
    stream: true,
    model,
    group: settings.group,
    max_tokens: settings.max_tokens,
    temperature: settings.temperature,
  });

  const run = async ({ id }: Answer, body: ChatBody): Promise<void> => {
    const call = new AbortController();
    calls.current.set(id, call);
    setRunning((before) => new Set(before).add(id));
    const change = (part: Partial<Answer>) =>
      dispatch({ kind: "answer", id, change: (before) => ({ ...before, ...part }) });
    const requestId = await runAnswer(body, call.signal, change);
    calls.current.delete(id);
    setRunning((before) => {
      const next = new Set(before);
      next.delete(id);
      return next;
    });
    const bill = requestId === null ? undefined : await billOf(client, requestId, call.signal.aborted);
    if (bill) change({ bill });
  };

  /** Puts a turn after `before` and asks every chosen model. */
  const ask = (before: readonly Turn[], text: string, images: string[]): void => {
    const turn = newTurn(text, images, models);
    const turns = [...before, turn];
    stopAll(conversation);
    dispatch({ kind: "turns", turns });
    for (const [lane, answer] of turn.answers.entries()) void run(answer, bodyFor(turns, lane, answer.model));
  };

  const stopAll = ({ turns }: Conversation): void => {
    for (const { answers } of turns) for (const { id } of answers) calls.current.get(id)?.abort();
  };

  return {
    conversations: library.conversations,
    conversation,
    /** An answer of the conversation on screen is under way. */
    busy: conversation.turns.some(({ answers }) => answers.some(({ id }) => running.has(id))),
    isRunning: (answerId: string) => running.has(answerId),
    send: (text: string, images: string[]) => ask(conversation.turns, text, images),
    /** Sends a turn again; what came after it is dropped. */
    edit: (turn: Turn, text: string) => ask(turnsBefore(conversation, turn.id), text, turn.images),
    /** Asks for one answer again, in its place; what came after its turn is dropped. */
    regenerate: (turn: Turn, lane: number) => {
      const old = turn.answers[lane];
      if (!old) return;
      calls.current.get(old.id)?.abort();
      const answer = newAnswer(old.model);
      const turns = [...turnsBefore(conversation, turn.id), { ...turn, answers: turn.answers.with(lane, answer) }];
      dispatch({ kind: "turns", turns });
      void run(answer, bodyFor(turns, lane, answer.model));
    },
    stop: () => stopAll(conversation),
    branch: (turn: Turn) => dispatch({ kind: "add", conversation: branchAt(conversation, turn.id) }),
    start: () => dispatch({ kind: "add", conversation: newConversation() }),
    show: (id: string) => dispatch({ kind: "show", id }),
    remove: (id: string) => {
      const gone = library.conversations.find((item) => item.id === id);
      if (gone) stopAll(gone);
      dispatch({ kind: "remove", id });
    },
    /** The next call of the first model, as it would be sent with `text`. */
    preview: (text: string): ChatBody =>
      bodyFor([...conversation.turns, newTurn(text, [], models)], 0, models[0] ?? ""),
  };
}

export type Playground = ReturnType<typeof usePlayground>;
