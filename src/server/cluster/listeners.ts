/**
 * The listeners of each topic, and which versions they have read. A listener that fails is called again every second
 * until it succeeds, because the message comes only once.
 */
import type { Listener, SubscribeOptions, Topic } from "./types";

const RETRY_MS = 1_000;
/** Listeners that read everything are also called this often, without a change. */
const REREAD_MS = 60_000;

export interface ListenersOptions {
  /** Epoch milliseconds. */
  now(): number;
  /** Called when a topic's listeners fail for the first time, and when they succeed after that. */
  failed?(topic: Topic, error: unknown): void;
  recovered?(topic: Topic): void;
}

export interface Listeners {
  subscribe(topic: Topic, listener: Listener, options?: SubscribeOptions): () => void;
  /**
   * A change: `version` counts the topic's changes, `own` = made by this process. Resolves when the listeners have been
   * called, and never rejects. A version that is known already calls no listener.
   */
  notify(topic: Topic, id: string, version: number, own?: boolean): Promise<void>;
  /** The highest known version; `applied`: the highest that all listeners have read. */
  latest(topic: Topic): number;
  applied(topic: Topic): number;
  /** Takes a version as applied without calling the listeners. */
  startAt(topic: Topic, version: number): void;
  /** Milliseconds since the oldest of the latest successful readings of listeners with `whole` began. */
  age(): number;
  close(): void;
}

interface TopicState {
  listeners: Map<Listener, SubscribeOptions>;
  latest: number;
  applied: number;
  /** For the next call of the listeners. */
  ids: Set<string>;
  own: boolean;
  running: Promise<void>;
  next: Promise<void> | undefined;
  retry: ReturnType<typeof setTimeout> | undefined;
  failing: boolean;
  /** When the latest successful reading began. */
  read_at: number;
}

export function createListeners({ now, failed, recovered }: ListenersOptions): Listeners {
  const states = new Map<Topic, TopicState>();
  let closed = false;

  function stateOf(topic: Topic): TopicState {
    let state = states.get(topic);
    if (!state) {
      state = {
        listeners: new Map(),
        latest: 0,
        applied: 0,
        ids: new Set(),
        own: false,
        running: Promise.resolve(),
        next: undefined,
        retry: undefined,
        failing: false,
        read_at: now(),
      };
      states.set(topic, state);
    }
    return state;
  }

  /** Calls every listener once. Changes that come meanwhile wait for the next turn. */
  async function callListeners(topic: Topic, state: TopicState): Promise<void> {
    const { ids, own, latest } = state;
    state.next = undefined;
    state.ids = new Set();
    state.own = false;
    clearTimeout(state.retry);
    const began = now();
    const calls = [...state.listeners].flatMap(([listener, { whole }]) =>
      (whole ? ["*"] : [...ids]).map(async (id) => listener(id, own)),
    );
    try {
      await Promise.all(calls);
      state.applied = Math.max(state.applied, latest);
      state.read_at = began;
      if (state.failing) recovered?.(topic);
      state.failing = false;
    } catch (error) {
      for (const id of ids) state.ids.add(id);
      if (!state.failing) failed?.(topic, error);
      state.failing = true;
      if (!closed) state.retry = setTimeout(() => void turn(topic, state), RETRY_MS);
    }
  }

  function turn(topic: Topic, state: TopicState): Promise<void> {
    return (state.next ??= state.running.then(() => (state.running = callListeners(topic, state))));
  }

  const rereads = setInterval(() => {
    for (const [topic, state] of states) if (hasWhole(state)) void turn(topic, state);
  }, REREAD_MS);
  rereads.unref();

  return {
    subscribe: (topic, listener, options = {}) => {
      const { listeners } = stateOf(topic);
      listeners.set(listener, options);
      return () => listeners.delete(listener);
    },
    notify: (topic, id, version, own = false) => {
      const state = stateOf(topic);
      if (version <= state.latest) return state.next ?? state.running;
      state.ids.add(version > state.latest + 1 ? "*" : id);
      state.own ||= own;
      state.latest = version;
      return turn(topic, state);
    },
    latest: (topic) => stateOf(topic).latest,
    applied: (topic) => stateOf(topic).applied,
    startAt: (topic, version) => {
      const state = stateOf(topic);
      state.latest = Math.max(state.latest, version);
      state.applied = Math.max(state.applied, version);
    },
    age: () => Math.max(0, ...[...states.values()].filter(hasWhole).map(({ read_at }) => now() - read_at)),
    close: () => {
      closed = true;
      clearInterval(rereads);
      for (const state of states.values()) {
        clearTimeout(state.retry);
        state.listeners.clear();
      }
    },
  };
}

const hasWhole = ({ listeners }: TopicState): boolean => [...listeners.values()].some(({ whole }) => whole === true);
