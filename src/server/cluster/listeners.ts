/**
 * The listeners of each topic, and which versions they have read. A listener that fails is called again every second
 * until it succeeds, because the message comes only once.
 */
import type { Listener, SubscribeOptions, Topic } from "./types";

const AGAIN_MS = 1_000;
/** Listeners that read everything are also called this often, without a change. */
const EVERY_MS = 60_000;

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
   * called, and never rejects. A version that was heard before calls no listener.
   */
  hear(topic: Topic, id: string, version: number, own?: boolean): Promise<void>;
  /** The highest version heard of; `seen`: the highest that all listeners have read. */
  heard(topic: Topic): number;
  seen(topic: Topic): number;
  /** Takes a version as seen without calling the listeners. */
  startAt(topic: Topic, version: number): void;
  /** Milliseconds since the oldest of the latest successful readings of listeners with `whole` began. */
  age(): number;
  close(): void;
}

interface Place {
  listeners: Map<Listener, SubscribeOptions>;
  heard: number;
  seen: number;
  /** For the next call of the listeners. */
  ids: Set<string>;
  own: boolean;
  running: Promise<void>;
  next: Promise<void> | undefined;
  again: ReturnType<typeof setTimeout> | undefined;
  failing: boolean;
  /** When the latest successful reading began. */
  read_at: number;
}

export function createListeners({ now, failed, recovered }: ListenersOptions): Listeners {
  const places = new Map<Topic, Place>();
  let closed = false;

  function placeOf(topic: Topic): Place {
    let place = places.get(topic);
    if (!place) {
      place = {
        listeners: new Map(),
        heard: 0,
        seen: 0,
        ids: new Set(),
        own: false,
        running: Promise.resolve(),
        next: undefined,
        again: undefined,
        failing: false,
        read_at: now(),
      };
      places.set(topic, place);
    }
    return place;
  }

  /** Calls every listener once. Changes that come meanwhile wait for the next turn. */
  async function ask(topic: Topic, place: Place): Promise<void> {
    const { ids, own, heard } = place;
    place.next = undefined;
    place.ids = new Set();
    place.own = false;
    clearTimeout(place.again);
    const began = now();
    const asked = [...place.listeners].flatMap(([listener, { whole }]) =>
      (whole ? ["*"] : [...ids]).map(async (id) => listener(id, own)),
    );
    try {
      await Promise.all(asked);
      place.seen = Math.max(place.seen, heard);
      place.read_at = began;
      if (place.failing) recovered?.(topic);
      place.failing = false;
    } catch (error) {
      for (const id of ids) place.ids.add(id);
      if (!place.failing) failed?.(topic, error);
      place.failing = true;
      if (!closed) place.again = setTimeout(() => void turn(topic, place), AGAIN_MS);
    }
  }

  function turn(topic: Topic, place: Place): Promise<void> {
    return (place.next ??= place.running.then(() => (place.running = ask(topic, place))));
  }

  const everything = setInterval(() => {
    for (const [topic, place] of places) if (hasWhole(place)) void turn(topic, place);
  }, EVERY_MS);
  everything.unref();

  return {
    subscribe: (topic, listener, options = {}) => {
      const { listeners } = placeOf(topic);
      listeners.set(listener, options);
      return () => listeners.delete(listener);
    },
    hear: (topic, id, version, own = false) => {
      const place = placeOf(topic);
      if (version <= place.heard) return place.next ?? place.running;
      place.ids.add(version > place.heard + 1 ? "*" : id);
      place.own ||= own;
      place.heard = version;
      return turn(topic, place);
    },
    heard: (topic) => placeOf(topic).heard,
    seen: (topic) => placeOf(topic).seen,
    startAt: (topic, version) => {
      const place = placeOf(topic);
      place.heard = Math.max(place.heard, version);
      place.seen = Math.max(place.seen, version);
    },
    age: () => Math.max(0, ...[...places.values()].filter(hasWhole).map(({ read_at }) => now() - read_at)),
    close: () => {
      closed = true;
      clearInterval(everything);
      for (const place of places.values()) {
        clearTimeout(place.again);
        place.listeners.clear();
      }
    },
  };
}

const hasWhole = ({ listeners }: Place): boolean => [...listeners.values()].some(({ whole }) => whole === true);
