/** A model of the ledger's rules in a few lines over plain values, to compare the engines with. */
import type {
  CreditResult,
  HoldResult,
  RefundResult,
  SettleResult,
  UndoResult,
} from "../../src/server/contracts/ledger";

/** Calls 0 to 5; call n uses token n % 3 - 1 (-1: no token). */
export type Step =
  | { verb: "hold"; call: number; amount: number; least?: number }
  | { verb: "extend"; call: number; amount: number; running: number }
  | { verb: "settle"; call: number; quota: number }
  | { verb: "release"; call: number }
  /** `quota`: absent = the whole charge. */
  | { verb: "refund"; call: number; quota?: number }
  /** An operator's refund, and its undoing. */
  | { verb: "refund part"; call: number; part: number; quota?: number }
  | { verb: "undo"; call: number; part: number }
  | { verb: "credit"; key: number; amount: number }
  | { verb: "user"; status: number }
  | { verb: "token"; token: number; status: number; unlimited: boolean };

export type Answer = HoldResult | SettleResult | RefundResult | UndoResult | CreditResult | boolean | null;

export const tokenOfCall = (call: number): number => (call % 3) - 1;

export interface Token {
  status: number;
  unlimited: boolean;
  remain: number;
  used: number;
}
export interface Hold {
  amount: number;
  token_amount: number;
  running: number;
}
export interface State {
  status: number;
  quota: number;
  used: number;
  count: number;
  tokens: Token[];
  holds: Record<string, Hold>;
  /** Charge by call. */
  logs: Record<string, number>;
  /** Released units by call ("3", of its job) and part ("3/1", "3/1/undo"). */
  refunds: Record<string, number>;
  /** Amount by idempotency key. */
  credits: Record<string, number>;
}

/** The state after `step`, and its answer; `before` is not changed. */
export function apply(before: State, step: Step): [State, Answer] {
  const state = structuredClone(before);
  return [state, answer(state, step)];
}

function answer(state: State, step: Step): Answer {
  switch (step.verb) {
    case "hold": {
      const { call, least = step.amount } = step;
      const token = state.tokens[tokenOfCall(call)];
      const left = token && !token.unlimited ? Math.min(state.quota, token.remain) : state.quota;
      const amount = Math.min(step.amount, Math.max(least, Math.floor(left / 4)));
      const held = (units: number): Answer => (units < step.amount ? { ok: true, held: units } : { ok: true });
      if (state.status !== 1) return { ok: false, reason: "user_unusable", balance: state.quota };
      if (state.quota <= 0 || state.quota < amount)
        return { ok: false, reason: "user_quota", balance: state.quota, ...(left < state.quota && { left }) };
      if (token && token.status !== 1) return { ok: false, reason: "token_unusable", balance: token.remain };
      if (token && !token.unlimited && token.remain < amount)
        return { ok: false, reason: "token_quota", balance: token.remain };
      if (state.holds[call]) return held(least);
      const fromToken = token && !token.unlimited ? amount : 0;
      state.holds[call] = { amount, token_amount: fromToken, running: 0 };
      state.quota -= amount;
      if (token) token.remain -= fromToken;
      return held(amount);
    }
    case "extend": {
      const hold = state.holds[step.call];
      if (!hold) return false;
      hold.running = step.running;
      const token = state.tokens[tokenOfCall(step.call)];
      const limited = token && !token.unlimited;
      if (state.quota < step.amount || (limited && token.remain < step.amount)) return false;
      hold.amount += step.amount;
      state.quota -= step.amount;
      if (limited) {
        hold.token_amount += step.amount;
        token.remain -= step.amount;
      }
      return true;
    }
    case "settle": {
      const missing = !giveBack(state, step.call);
      if (step.call in state.logs) return { settled: false };
      const token = state.tokens[tokenOfCall(step.call)];
      state.logs[step.call] = step.quota;
      state.quota -= step.quota;
      state.used += step.quota;
      state.count++;
      if (token) {
        if (!token.unlimited) token.remain -= step.quota;
        token.used += step.quota;
      }
      return { settled: true, hold_missing: missing };
    }
    case "release":
      return giveBack(state, step.call);
    case "refund": {
      const charge = state.logs[step.call];
      if (charge === undefined) return { refunded: false, reason: "charge_missing" };
      const units = step.quota ?? charge;
      if (units > charge) return { refunded: false, reason: "exceeds_charge" };
      if (step.call in state.refunds) return { refunded: false, reason: "duplicate" };
      return {
        refunded: true,
        quota: refund(state, step.call, `${step.call}`, Math.min(units, leftOf(state, step.call))),
      };
    }
    case "refund part": {
      const charge = state.logs[step.call];
      if (charge === undefined) return { refunded: false, reason: "charge_missing" };
      const left = leftOf(state, step.call);
      const units = step.quota ?? left;
      if (units > charge) return { refunded: false, reason: "exceeds_charge" };
      const name = `${step.call}/${step.part}`;
      if (name in state.refunds) return { refunded: false, reason: "duplicate" };
      if (units > left || left === 0) return { refunded: false, reason: "exceeds_charge" };
      return { refunded: true, quota: refund(state, step.call, name, units) };
    }
    case "undo": {
      const name = `${step.call}/${step.part}`;
      const units = state.refunds[name];
      if (units === undefined) return { undone: false, reason: "refund_missing" };
      if (`${name}/undo` in state.refunds) return { undone: false, reason: "duplicate" };
      const token = state.tokens[tokenOfCall(step.call)];
      const spendable = token && !token.unlimited ? Math.min(state.quota, token.remain) : state.quota;
      if (spendable < units) return { undone: false, reason: "insufficient" };
      refund(state, step.call, `${name}/undo`, -units);
      return { undone: true, quota: units };
    }
    case "credit": {
      if (step.key in state.credits) return { applied: false, balance: state.quota, reason: "duplicate" };
      if (step.amount < 0 && state.quota + step.amount < 0) {
        return { applied: false, balance: state.quota, reason: "insufficient" };
      }
      state.credits[step.key] = step.amount;
      state.quota += step.amount;
      return { applied: true, balance: state.quota };
    }
    case "user":
      state.status = step.status;
      return null;
    case "token": {
      const token = state.tokens[step.token];
      if (token) Object.assign(token, { status: step.status, unlimited: step.unlimited });
      return null;
    }
  }
}

/** What the refunds of a call have left of its charge. */
const leftOf = (state: State, call: number): number =>
  Object.entries(state.refunds).reduce(
    (left, [name, units]) => (name.split("/")[0] === `${call}` ? left - units : left),
    state.logs[call] ?? 0,
  );

/** Moves a refund's units (negative: an undone one's), and returns them. */
function refund(state: State, call: number, name: string, units: number): number {
  state.refunds[name] = units;
  state.quota += units;
  state.used -= units;
  const token = state.tokens[tokenOfCall(call)];
  if (token) {
    if (!token.unlimited) token.remain += units;
    token.used -= units;
  }
  return units;
}

function giveBack(state: State, call: number): boolean {
  const hold = state.holds[call];
  if (!hold) return false;
  delete state.holds[call];
  state.quota += hold.amount;
  const token = state.tokens[tokenOfCall(call)];
  if (token) token.remain += hold.token_amount;
  return true;
}
