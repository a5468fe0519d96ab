import { useEffect, useState } from "react";

/** In session storage, so that a reload does not end a countdown (D-41). */
function endOf(key: string): number {
  try {
    return Number(sessionStorage.getItem(key)) || 0;
  } catch {
    return 0;
  }
}

function keep(key: string, end: number): void {
  try {
    if (end === 0) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, String(end));
  } catch {
    // Without storage a countdown lasts until the page is left.
  }
}

const left = (end: number): number => Math.max(0, Math.ceil((end - Date.now()) / 1000));

/** Seconds that are left under `key`, 0 = none; with `start` and `clear`. */
export function useCountdown(key: string): { seconds: number; start: (seconds: number) => void; clear: () => void } {
  const [end, setEnd] = useState(() => endOf(key));
  const [seconds, setSeconds] = useState(() => left(end));
  useEffect(() => {
    setSeconds(left(end));
    if (left(end) === 0) return;
    const timer = setInterval(() => setSeconds(left(end)), 250);
    return () => clearInterval(timer);
  }, [end]);
  const set = (next: number) => {
    keep(key, next);
    setEnd(next);
    setSeconds(left(next));
  };
  return { seconds, start: (duration) => set(Date.now() + duration * 1000), clear: () => set(0) };
}
