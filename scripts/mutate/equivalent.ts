/** What `npm run mutate` changes and no test can notice, each with its reason. */

/** A change that no test can notice, because it changes nothing observable. */
export interface Equivalent {
  readonly file: string;
  /** The line before and after, without the space around it. */
  readonly line: string;
  readonly becomes: string;
  readonly reason: string;
}

const SQLITE_LEDGER = "src/server/features/wallet/ledger.sqlite.ts";
const POSTGRES_LEDGER = "src/server/features/wallet/single-verb.pg.ts";
const FAILURES = "src/server/protocol/upstream-failure.ts";
const BATCH = "src/server/features/wallet/batch.sqlite.ts";
const COOLING = "src/server/relay/routing/cooldown.ts";
const CHARGE = "src/shared/charge.ts";
const SELECT = "src/server/relay/routing/channel-selector.ts";
const MONEY = "src/server/relay/billing/call-billing.ts";
const METER = "src/server/relay/upstream/passthrough-openai.ts";
const STREAM = "src/server/relay/delivery/stream-body.ts";
const FINAL_CHARGE = "src/server/relay/billing/final-charge.ts";
const EGRESS = "src/server/lib/egress.ts";
const STORED_CONTENT = "src/server/features/log/redact.ts";
const TASK_VIEW = "src/server/features/task/present.ts";
const SECRETS = "src/server/relay/providers/redact.ts";

const EQUAL = "where both are equal, either is the result";
const NEVER = "the fallback is for the type alone: what is asked for is there";

const SHORT_CUT = "a short cut: without pauses the map has none for the pair either";

export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: METER,
    line: "this.#measured = 0;",
    becomes: "this.#measured = 1;",
    reason: "content stands in the JSON of a frame, never in its first letter",
  },
  {
    file: METER,
    line: "const start = Math.max(0, lastFrameEnd(region, 0, at));",
    becomes: "const start = Math.max(0, lastFrameEnd(region, 1, at));",
    reason:
      "a frame read without its first letter is no data line, and is none either when it is read whole before `at`",
  },
  {
    file: BATCH,
    line: "if (token_id === 0) return;",
    becomes: ";",
    reason: "what is written for a token that is not there changes no row",
  },
  { file: COOLING, line: 'if (this.#pauses.size === 0) return "ready";', becomes: ";", reason: SHORT_CUT },
  { file: COOLING, line: "if (this.#pauses.size === 0) return;", becomes: ";", reason: SHORT_CUT },
  {
    file: COOLING,
    line: "const pause = this.#pauses.size > 0 ? this.#pauses.get(`${channel} ${model}`) : undefined;",
    becomes: "const pause = this.#pauses.size >= 0 ? this.#pauses.get(`${channel} ${model}`) : undefined;",
    reason: SHORT_CUT,
  },
  {
    file: CHARGE,
    line: "const scale = Math.max(0, ...values.map((value) => value.scale));",
    becomes: "const scale = Math.max(1, ...values.map((value) => value.scale));",
    reason: "a longer scale is the same value, and trailing zeros are not printed",
  },
  {
    file: CHARGE,
    line: "wanted && tokens[kind].weight > least ? tokens[kind].weight : least;",
    becomes: "wanted && tokens[kind].weight >= least ? tokens[kind].weight : least;",
    reason: EQUAL,
  },
  {
    file: CHARGE,
    line: "return toQuota(up > least ? up : least);",
    becomes: "return toQuota(up >= least ? up : least);",
    reason: EQUAL,
  },
  {
    file: CHARGE,
    line: "return toQuota(rounded > least ? rounded : least);",
    becomes: "return toQuota(rounded >= least ? rounded : least);",
    reason: EQUAL,
  },
  {
    file: SELECT,
    line: "tier.forEach((channel, i) => add(channel, turn, shares[i] ?? 0));",
    becomes: "tier.forEach((channel, i) => add(channel, turn, (shares[i])));",
    reason: NEVER,
  },
  {
    file: SELECT,
    line: "tier.forEach((channel, i) => add(channel, turn, shares[i] ?? 0));",
    becomes: "tier.forEach((channel, i) => add(channel, turn, shares[i] ?? 1));",
    reason: NEVER,
  },
  {
    file: METER,
    line: "const out = at < 0 ? region : this.#sift(region, at);",
    becomes: "const out = at < 1 ? region : this.#sift(region, at);",
    reason: "no frame begins with what makes it notable: `data:` stands before it",
  },
  {
    file: METER,
    line: "if (parts.length === 0 && keptFrom === 0) return region;",
    becomes: ";",
    reason: "what follows makes the same bytes, by a copy",
  },
  {
    file: METER,
    line: "if (parts.length === 0 && keptFrom === 0) return region;",
    becomes: "if (parts.length === 1 && keptFrom === 0) return region;",
    reason: "what follows makes the same bytes, by a copy",
  },
  {
    file: METER,
    line: "if (keptFrom < region.length) parts.push(region.subarray(keptFrom));",
    becomes: "if (keptFrom <= region.length) parts.push(region.subarray(keptFrom));",
    reason: "adds a part of no bytes",
  },
  {
    file: METER,
    line: "return parts.length === 0 ? nothing : parts.length === 1 ? (parts[0] ?? nothing) : Buffer.concat(parts);",
    becomes: "return parts.length === 0 ? nothing : parts.length === 1 ? ((parts[0])) : Buffer.concat(parts);",
    reason: NEVER,
  },
  {
    file: STREAM,
    line: "if (!this.#upstream || this.#ready.length > 0) return void this.#begin();",
    becomes: "if (!this.#upstream || this.#ready.length >= 0) return void this.#begin();",
    reason: "the slow way of the first pull does the same",
  },
  {
    file: STREAM,
    line: "if (done || !value) {",
    becomes: "if (done && !value) {",
    reason: "a read that is done has no value, and one that is not has one",
  },
  {
    file: STREAM,
    line: "if (!region || region.length === 0) return this.#next(upstream);",
    becomes: "if (!region || region.length === 1) return this.#next(upstream);",
    reason: "a whole frame has more than a byte, and none of no bytes is found in nothing",
  },
  {
    file: STREAM,
    line: "if (!call.left && this.#last.length > 0) controller?.enqueue(this.#last);",
    becomes: "if (!call.left && this.#last.length > 1) controller?.enqueue(this.#last);",
    reason: "no last word is one byte",
  },
  {
    file: FINAL_CHARGE,
    line: "return asksForHiddenTurns(channel?.override?.({}) ?? {});",
    becomes: "return asksForHiddenTurns((channel?.override?.({})));",
    reason: "what is then thrown is caught, and means the same",
  },
  {
    file: EGRESS,
    line: 'method: options.method ?? "GET",',
    becomes: "method: (options.method),",
    reason: "fetch asks by GET where nothing is said",
  },
  {
    file: STORED_CONTENT,
    line: 'clean = typeof replacement === "string" ? clean.replace(pattern, replacement) : clean.replace(pattern, replacement);',
    becomes:
      'clean = typeof replacement !== "string" ? clean.replace(pattern, replacement) : clean.replace(pattern, replacement);',
    reason: "both sides are the same call; TypeScript alone tells them apart",
  },
  {
    file: TASK_VIEW,
    line: 'if (text === "") return undefined;',
    becomes: ";",
    reason: "an empty text is no JSON either",
  },
  {
    file: SECRETS,
    line: "const core = text.slice(Math.ceil((before * 8) / 6), Math.floor((length * 8) / 6));",
    becomes: "const core = text.slice(Math.ceil((before * 8) / 7), Math.floor((length * 8) / 6));",
    reason: "rounded up it is the same for 0, 1 and 2",
  },
  {
    file: SECRETS,
    line: 'return core.length < SHORTEST ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];',
    becomes: 'return core.length <= SHORTEST ? [] : [core, core.replaceAll("+", "-").replaceAll("/", "_")];',
    reason: "of the shortest secret ten signs are its own",
  },
  {
    file: SECRETS,
    line: "if (before?.forms) return before.forms;",
    becomes: ";",
    reason: "they are worked out again, and are the same",
  },
  {
    file: SECRETS,
    line: "for (let i = from; i < to; i++) begins.push(starts[i] ?? 0);",
    becomes: "for (let i = from; i < to; i++) begins.push((starts[i]));",
    reason: NEVER,
  },
  {
    file: SECRETS,
    line: "begins.push(starts[text.length] ?? 0);",
    becomes: "begins.push((starts[text.length]));",
    reason: NEVER,
  },
  { file: MONEY, line: "#step = 0;", becomes: "#step = 1;", reason: "it is set before it is read" },
  {
    file: SQLITE_LEDGER,
    line: "own.set(request_id, { amount, token_amount: tokenAmount, user_id, token_id });",
    becomes: ";",
    reason: "what is not known here is asked of the database, and is the same",
  },
  {
    file: SQLITE_LEDGER,
    line: "if (hold) batch.move(user_id, hold.amount, token_id, token_id === 0 ? 0 : hold.token_amount);",
    becomes: "if (hold) batch.move(user_id, hold.amount, token_id, token_id === 0 ? 1 : hold.token_amount);",
    reason: "what is written for a token that is not there changes no row",
  },
  {
    file: SQLITE_LEDGER,
    line: "setImmediate(lastBatch < CROWD ? run : () => void setImmediate(run));",
    becomes: "setImmediate(lastBatch <= CROWD ? run : () => void setImmediate(run));",
    reason: "where a crowd begins is a matter of pace alone",
  },
  {
    file: POSTGRES_LEDGER,
    line: "WHERE verdict.reason = 'ok' AND held > 0 AND users.id = $2::bigint",
    becomes: "WHERE verdict.reason = 'ok' AND held >= 0 AND users.id = $2::bigint",
    reason: "nothing is moved by an update of 0 units",
  },
  {
    file: POSTGRES_LEDGER,
    line: "WHERE covered AND limited AND $2::bigint > 0 AND tokens.id = extended.token_id",
    becomes: "WHERE covered AND limited AND $2::bigint >= 0 AND tokens.id = extended.token_id",
    reason: "nothing is moved by an update of 0 units",
  },
  {
    file: SELECT,
    line: "if (this.#left.length === 0) return undefined;",
    becomes: ";",
    reason: "of no channels none is drawn",
  },
  {
    file: SELECT,
    line: "readonly #stageOf = (channel: PoolChannel): number => this.#groups?.get(channel) ?? 0;",
    becomes: "readonly #stageOf = (channel: PoolChannel): number => (this.#groups?.get(channel));",
    reason: NEVER,
  },
  {
    file: METER,
    line: "const end = next < 0 ? region.length : next;",
    becomes: "const end = next < 1 ? region.length : next;",
    reason: "no frame ends where the region begins",
  },
  {
    file: EGRESS,
    line: "let headers = options.headers ?? {};",
    becomes: "let headers = (options.headers);",
    reason: "what is spread of nothing is nothing",
  },
  {
    file: SECRETS,
    line: "if (!bytes.includes(ERROR_NAME)) return bytes;",
    becomes: ";",
    reason: "what follows finds no error either, only later",
  },
  {
    file: METER,
    line: "if (parts.length === 0 && keptFrom === 0) return region;",
    becomes: "if (parts.length !== 0 && keptFrom === 0) return region;",
    reason: "what follows makes the same bytes, by a copy",
  },
  {
    file: METER,
    line: "if (!isObject(chunk)) return undefined;",
    becomes: ";",
    reason: "for the type alone: an error is only ever read in an object",
  },
  {
    file: SELECT,
    line: ": most > 0 && (options.input ?? 0) > most",
    becomes: ": most > 0 && (options.input ?? 1) > most",
    reason: "one token is more than no limit that counts",
  },
  {
    file: SELECT,
    line: ": most > 0 && (options.input ?? 0) > most",
    becomes: ": most > 0 && ((options.input)) > most",
    reason: "nothing is more than no limit",
  },
  {
    file: SELECT,
    line: "knownTiers.set(candidates, known);",
    becomes: ";",
    reason: "they are worked out again, and are the same",
  },
  {
    file: FAILURES,
    line: 'if (kind === "malformed") return status > 0;',
    becomes: 'if (kind === "malformed") return status > 1;',
    reason: "no answer has the status 1",
  },
  {
    file: FAILURES,
    line: "if (!header) return undefined;",
    becomes: ";",
    reason: "nothing is neither seconds nor a date",
  },
  {
    file: STREAM,
    line: "if (!upstream) return;",
    becomes: ";",
    reason: "without an upstream the answer is over, and what follows ends nothing a second time",
  },
];
