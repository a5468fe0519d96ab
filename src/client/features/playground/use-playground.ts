import { t } from "@lingui/core/macro";
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { reportError } from "../../lib/errors";
import { CallError } from "../../lib/http";
import { trpc } from "../../lib/trpc";
import { type ChatBody, ChatError, type Progress, sendChat } from "./chat-call";
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
  withAnswer,
} from "./conversation";
import { readConversations, readSettings, type Settings, writeConversations, writeSettings } from "./storage";

interface Library {
  conversations: Conversation[];
  /** The one on screen; always one of them. */
  current: string;
}

type Action =
  | { kind: "turns"; turns: Turn[] }
  | { kind: "answer"; id: string; change: (answer: Answer) => Answer }
  | { kind: "show"; id: string }
  | { kind: "add"; conversation: Conversation }
  | { kind: "remove"; id: string };

function reduce(library: Library, action: Action): Library {
  const { conversations } = library;
  switch (action.kind) {
    case "turns":
      return {
        ...library,
        conversations: conversations.map((item) =>
          item.id === library.current ? { ...item, turns: action.turns, updated: Date.now() } : item,
        ),
      };
    case "answer":
      return { ...library, conversations: conversations.map((item) => withAnswer(item, action.id, action.change)) };
    case "show":
      return { ...library, current: action.id };
    case "add":
      // An empty conversation that is left need not be kept.
      return {
        conversations: [action.conversation, ...conversations.filter(({ turns }) => turns.length > 0)],
        current: action.conversation.id,
      };
    case "remove": {
      const left = conversations.filter((item) => item.id !== action.id);
      const first = left[0] ?? newConversation();
      return {
        conversations: left.length > 0 ? left : [first],
        current: library.current === action.id ? first.id : library.current,
      };
    }
  }
}

/** A visit begins with an empty conversation; the kept ones are a choice away. */
function openLibrary(userId: number): Library {
  const fresh = newConversation();
  return { conversations: [fresh, ...readConversations(userId)], current: fresh.id };
}

/** How often a growing answer is drawn, in milliseconds. */
const DRAW_EVERY = 50;
/** When the log row is looked for after the end: a stopped call settles when its upstream is drained. */
const BILL_DELAYS = [0, 1_000, 6_000];

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

  useEffect(() => {
    const timer = setTimeout(() => writeConversations(userId, library.conversations), 400);
    return () => clearTimeout(timer);
  }, [userId, library.conversations]);
  const latest = useRef(library.conversations);
  latest.current = library.conversations;
  useEffect(() => {
    const keep = () => writeConversations(userId, latest.current);
    const open = calls.current;
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      keep();
      for (const call of open.values()) call.abort();
    };
  }, [userId]);

  const bodyFor = (turns: readonly Turn[], lane: number, model: string): ChatBody => ({
    messages: messagesFor(turns, lane, settings.system),
    stream: true,
    model,
    group: settings.group,
    max_tokens: settings.max_tokens,
    temperature: settings.temperature,
  });

  const fetchBill = async (answerId: string, requestId: string, signal: AbortSignal): Promise<void> => {
    for (const delay of signal.aborted ? BILL_DELAYS : BILL_DELAYS.slice(0, 2)) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      try {
        const [row] = (await client.log.own.query({ request_id: requestId, limit: 1 })).items;
        if (!row) continue;
        const { id: log_id, prompt_tokens, completion_tokens, quota } = row;
        dispatch({
          kind: "answer",
          id: answerId,
          change: (answer) => ({ ...answer, bill: { log_id, prompt_tokens, completion_tokens, quota } }),
        });
        return;
      } catch {
        // Without its row (the operator keeps no log, say) the answer stands without its price.
        return;
      }
    }
  };

  const run = async (answer: Answer, body: ChatBody): Promise<void> => {
    const { id } = answer;
    const call = new AbortController();
    calls.current.set(id, call);
    setRunning((before) => new Set(before).add(id));
    const change = (part: Partial<Answer>) =>
      dispatch({ kind: "answer", id, change: (before) => ({ ...before, ...part }) });
    const started = performance.now();
    let requestId: string | null = null;
    let ttft: number | undefined;
    let drawn = 0;
    let seen: Progress = { text: "", reasoning: "", tools: [] };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      drawn = performance.now();
      timer = undefined;
      change({ ...seen, ...(ttft !== undefined && { ttft, state: "incomplete" }) });
    };
    const finish = (part: Partial<Answer>) => {
      clearTimeout(timer);
      change({ ...seen, ...(ttft !== undefined && { ttft }), duration: performance.now() - started, ...part });
    };
    try {
      const { done } = await sendChat(body, {
        signal: call.signal,
        onHead: (head) => {
          requestId = head;
          if (head !== null) change({ request_id: head });
        },
        onProgress: (progress) => {
          seen = progress;
          if (progress.text !== "" || progress.reasoning !== "" || progress.tools.length > 0)
            ttft ??= performance.now() - started;
          timer ??= setTimeout(draw, Math.max(0, drawn + DRAW_EVERY - performance.now()));
        },
      });
      finish(
        done ? { state: "complete" } : { state: "error", error: { status: 0, message: t`回答中断：连接在结束前关闭` } },
      );
    } catch (error) {
      if (call.signal.aborted) finish({ state: "incomplete" });
      else {
        const { status, message } = error instanceof ChatError ? error : { status: 0, message: String(error) };
        finish({ state: "error", error: { status, message } });
        if (status === 401) reportError(new CallError(message, status, requestId));
      }
    } finally {
      calls.current.delete(id);
      setRunning((before) => {
        const next = new Set(before);
        next.delete(id);
        return next;
      });
    }
    if (requestId !== null) await fetchBill(id, requestId, call.signal);
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
    /** Says a turn anew; what came after it is dropped. */
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
