/** What follows from each kind of failure, and which words and statuses belong to it. */
import type { FailureKind } from "../../shared/failures";
import { describe, expect, test } from "bun:test";
import { FAILURE_CLASSES, type FailureClass, failureClass } from "../../shared/failures";
import { asIs, cleanText } from "./clean-text";
import type { Retry } from "./failure-rules";
import type { ErrorCode, Owner } from "../../shared/errors";
import {
  classifyErrorIn200,
  classifyStatus,
  errorCodeOf,
  failureOf,
  mayBeAccepted,
  retryAfterSeconds,
  unanswered,
} from "./upstream-failure";

const none = new Map<number, number>();
const error = (more: { type?: string; code?: string }) => ({ message: "m", type: "", code: "", param: null, ...more });
const kindOf = (status: number, more: { type?: string; code?: string } = {}): FailureKind =>
  classifyStatus(asIs, status, error(more), none).kind;

/** Its class, whose fault, tried where, seconds left alone, may be disabled, status for the caller, words quoted. */
type Row = [FailureClass, Owner, Retry, cool_s: number, disable: boolean, status: number, quote: boolean];
const RULES: Record<FailureKind, Row> = {
  caller_mistake: ["caller", "caller", "no", 0, false, 502, true],
  context_too_long: ["caller", "caller", "no", 0, false, 400, true],
  too_large: ["caller", "caller", "no", 0, false, 413, true],
  over_account_rate: ["caller", "caller", "other_key", 0, false, 413, true],
  content_filtered: ["caller", "caller", "no", 0, false, 400, true],
  limited: ["ours", "operator", "other_channel", 0, false, 429, false],
  paused: ["account", "operator", "no", 0, false, 503, false],
  waiting: ["transient", "upstream", "no", 0, false, 503, false],
  unaffordable: ["caller", "caller", "other_channel", 0, false, 400, true],
  rate_limited: ["transient", "upstream", "other_key", 5, false, 429, true],
  quota_exhausted: ["account", "operator", "other_key", 300, true, 502, false],
  bad_credentials: ["account", "operator", "other_key", 60, true, 502, false],
  forbidden: ["account", "operator", "other_key", 0, false, 502, false],
  model_missing: ["account", "operator", "other_channel", 60, false, 404, true],
  overloaded: ["transient", "upstream", "other_channel", 5, false, 502, true],
  server_error: ["transient", "upstream", "other_channel", 0, false, 502, true],
  timeout: ["transient", "upstream", "other_channel", 5, false, 504, false],
  malformed: ["transient", "upstream", "other_channel", 0, false, 502, false],
  unreachable: ["transient", "upstream", "other_channel", 5, false, 502, false],
  cut: ["transient", "upstream", "other_channel", 0, false, 502, false],
};
const kinds = Object.keys(RULES) as FailureKind[];

describe("what follows", () => {
  test.each(kinds)("from %s", (name) => {
    const { class: cls, owner, retry, cool_ms, disable, status, quote, ...rest } = failureOf(name);
    expect([cls, owner, retry, cool_ms / 1000, disable, status, quote]).toEqual(RULES[name]);
    expect(rest).toEqual({ kind: name, upstream_status: 0 });
  });

  test("a limited rate is a named wait where the upstream named one, and no other kind ever is", () => {
    for (const name of kinds) {
      const named = failureClass(name, 7);
      const own = name === "rate_limited" || name === "waiting" ? "named_wait" : failureClass(name, undefined);
      expect([name, named]).toEqual([name, own]);
    }
    expect(classifyStatus(asIs, 429, undefined, none, 7).class).toBe("named_wait");
    expect(classifyStatus(asIs, 429, undefined, none).class).toBe("transient");
    const reached = kinds.flatMap((name) => [failureClass(name, undefined), failureClass(name, 7)]);
    expect([...new Set(reached)].toSorted()).toEqual([...FAILURE_CLASSES].toSorted());
  });

  test("a fault of the request cools nothing, though its refusal names a wait", () => {
    for (const status of [400, 413, 422])
      expect(classifyStatus(asIs, status, error({}), none, 60)).toMatchObject({ cool_ms: 0, retry_after_s: 60 });
  });

  test("the caller reads a code of its own for what never was an upstream's answer, and for what clients act on", () => {
    const own = {
      limited: "rate_limited_channels",
      paused: "channels_paused",
      waiting: "channels_paused",
      timeout: "upstream_timeout",
      malformed: "upstream_malformed",
    };
    const meant = {
      context_too_long: "context_length_exceeded",
      too_large: "request_too_large",
      over_account_rate: "request_too_large",
      content_filtered: "content_filter",
    };
    const codes = { ...own, ...meant, unreachable: "upstream_unreachable", cut: "upstream_cut" } as Partial<
      Record<FailureKind, ErrorCode>
    >;
    for (const name of kinds)
      expect([name, errorCodeOf(failureOf(name))]).toEqual([name, codes[name] ?? "upstream_error"]);
  });
});

describe("the words of vendors", () => {
  const words: Partial<Record<FailureKind, string>> = {
    quota_exhausted:
      "insufficient_quota insufficient_user_quota billing_not_active billing_hard_limit_reached insufficient_balance payment_required credit_balance_too_low exceeded_current_quota_error AccountOverdueError Arrearage",
    bad_credentials:
      "invalid_api_key authentication_error account_deactivated invalid_authentication unauthorized API_KEY_INVALID",
    forbidden: "unsupported_country_region_territory",
    model_missing:
      "model_not_found model_not_supported unsupported_model resource_not_found_error InvalidEndpointOrModel.NotFound ModelNotOpen",
  };

  test("tell what is meant whatever the status is, as type and as code", () => {
    for (const [name, list = ""] of Object.entries(words))
      for (const word of list.split(" "))
        for (const status of [400, 403, 404, 429, 500])
          expect([word, status, kindOf(status, { type: word }), kindOf(status, { code: word })]).toEqual([
            word,
            status,
            name,
            name,
          ]);
  });

  test("of an overload count where the status is a failure of the server's", () => {
    for (const word of ["overloaded_error", "overloaded", "engine_overloaded", "server_overloaded"]) {
      expect([word, kindOf(500, { type: word }), kindOf(502, { code: word })]).toEqual([
        word,
        "overloaded",
        "overloaded",
      ]);
      expect(kindOf(499, { type: word })).toBe("caller_mistake");
      expect(classifyErrorIn200(asIs, error({ code: word }))).toMatchObject({ kind: "overloaded", status: 503 });
    }
  });

  test("of a limit and of the caller's mistakes count inside an answer that began with 200", () => {
    for (const word of ["rate_limit_exceeded", "rate_limit_error", "too_many_requests"])
      expect(classifyErrorIn200(asIs, error({ type: word }))).toMatchObject({ kind: "rate_limited", status: 429 });
    const mistakes =
      "invalid_request_error invalid_prompt invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large image_too_small image_parse_error invalid_image_mode image_file_too_large unsupported_image_media_type empty_image_file failed_to_download_image";
    for (const word of mistakes.split(" "))
      expect([word, classifyErrorIn200(asIs, error({ code: word }))]).toMatchObject([
        word,
        { kind: "caller_mistake", status: 400, retry: "other_channel", upstream_status: 200 },
      ]);
    const filtered =
      "content_filter bio_policy misalignment_policy_violation image_content_policy_violation content_policy_violation moderation_blocked";
    for (const word of filtered.split(" "))
      expect([word, classifyErrorIn200(asIs, error({ code: word }))]).toMatchObject([
        word,
        { kind: "content_filtered", status: 400, retry: "no", upstream_status: 200 },
      ]);
    expect(classifyErrorIn200(asIs, error({ code: "context_length_exceeded" }))).toMatchObject({
      kind: "context_too_long",
      status: 400,
      retry: "no",
    });
    expect(classifyErrorIn200(asIs, error({ code: "429" })).kind).toBe("rate_limited");
    // Three digits that are no failure are a word.
    for (const code of ["200", "399", "600", "5000", "x500"])
      expect(classifyErrorIn200(asIs, error({ code }))).toMatchObject({ kind: "server_error", status: 502 });
  });
});

describe("statuses", () => {
  test("without words that are known", () => {
    const found = [307, 399, 400, 401, 402, 403, 404, 408, 413, 429, 499, 500, 503, 504, 524, 529, 599];
    expect(found.map((status) => kindOf(status))).toEqual([
      "server_error",
      "server_error",
      "caller_mistake",
      "bad_credentials",
      "quota_exhausted",
      "forbidden",
      "caller_mistake",
      "timeout",
      "too_large",
      "rate_limited",
      "caller_mistake",
      "server_error",
      "overloaded",
      "timeout",
      "timeout",
      "overloaded",
      "server_error",
    ]);
  });

  test("that are no failures to a caller become 502", () => {
    const seen = (status: number): number => classifyStatus(asIs, status, undefined, none).status;
    expect([100, 302, 399, 400, 599, 600, 999].map(seen)).toEqual([502, 502, 502, 400, 599, 502, 502]);
  });

  test("that an operator has mapped are judged without the upstream's words", () => {
    const mapping = new Map([[400, 503]]);
    expect(classifyStatus(asIs, 400, error({ code: "invalid_api_key" }), mapping)).toMatchObject({
      kind: "overloaded",
      status: 503,
      upstream_status: 400,
    });
  });
});

describe("Retry-After", () => {
  test("is whole seconds, rounded up, and none where it is no time", () => {
    const told = ["0", "3", "2.1", "", "soon", "3s", "Thu, 01 Jan 1970 00:00:02 GMT", "Thu, 01 Jan 1970 00:00:03 GMT"];
    expect(told.map((header) => retryAfterSeconds(header, 2_500))).toEqual([
      0,
      3,
      3,
      undefined,
      undefined,
      undefined,
      undefined,
      1,
    ]);
    expect(retryAfterSeconds(undefined, 0)).toBeUndefined();
    expect(retryAfterSeconds("-1", Date.now())).toBeUndefined();
  });

  test("that stands in the error counts where there is no header", () => {
    const said = { ...error({}), retry_after_s: 4 };
    expect(classifyStatus(asIs, 429, said, none)).toMatchObject({ cool_ms: 4_000, retry_after_s: 4 });
    expect(classifyStatus(asIs, 429, said, none).error).toMatchObject({ retry_after_s: 4 });
    expect(classifyStatus(asIs, 429, error({}), none).error).not.toHaveProperty("retry_after_s");
  });
});

describe("whether the upstream may be at work although the call failed", () => {
  const may = (name: FailureKind, upstream_status = 0, phase?: string): boolean =>
    mayBeAccepted({ kind: name, upstream_status, ...(phase && { phase }) });

  test("it may where the request was sent whole and was not refused", () => {
    expect([may("cut"), may("server_error", 500), may("server_error", 200), may("overloaded", 503)]).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect([may("timeout", 0, "first_byte"), may("timeout", 504), may("malformed", 200)]).toEqual([true, true, true]);
  });

  test("it may not where nothing was sent, or it was refused", () => {
    expect([may("unreachable"), may("timeout", 0, "connect"), may("malformed", 0), may("limited")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    for (const status of [300, 400, 408, 499])
      expect([status, may("cut", status), may("timeout", status)]).toEqual([status, false, false]);
    expect([may("rate_limited"), may("overloaded", 0), may("quota_exhausted", 500)]).toEqual([false, false, false]);
  });

  test("a connection that is lost may have carried the request, one that was refused has not", () => {
    const thrown = (code: unknown): unknown => Object.assign(new Error("m"), { code });
    for (const code of ["ECONNRESET", "ConnectionClosed", "EPIPE"])
      expect([code, unanswered(thrown(code))]).toEqual([code, "cut"]);
    expect(unanswered({ code: "ECONNRESET" })).toBe("cut");
    for (const other of [thrown("ConnectionRefused"), new Error("reset"), {}, undefined, "reset"])
      expect(unanswered(other)).toBe("unreachable");
  });
});

describe("texts of upstreams", () => {
  test("lose keys by how their vendors begin them", () => {
    const beginnings =
      "sk- pk- rk- gsk- xai- nvapi- pplx- sk_ pk_ rk_ gsk_ hf_ ghp_ r8_ org- proj- key- AKIA ASIA LTAI AKID AIza";
    for (const beginning of beginnings.split(" ")) {
      expect(cleanText(`(${beginning}Ab34Ef78)`)).toBe("([key])");
      expect(cleanText(`--${beginning}Ab34Ef78`)).toBe("[key]");
    }
    for (const name of ["sk_short", "org-name-of-all", "key-value-store", "hf_model_name"])
      expect(cleanText(name)).toBe(name);
  });

  test("lose hosts of every ending that is known, with port and path", () => {
    for (const ending of "com net org io ai cn dev app cloud local internal".split(" "))
      expect(cleanText(`at api.vendor.${ending}:443/v1/x failed.`)).toBe("at [address] failed.");
    expect(cleanText("wss://x.y/z ws://x.y http://x HTTPS://x/y?k=v)")).toBe(
      "[address] [address] [address] [address])",
    );
    expect(cleanText("10.0.0.1 and 10.0.0.1:80 and [2001:db8:0:1::5]:443")).toBe(
      "[address] and [address] and [address]",
    );
    expect(cleanText("version 1.2.3 of file.txt")).toBe("version 1.2.3 of file.txt");
  });

  test("are cut at a thousand characters, and long words that say nothing go", () => {
    expect(cleanText("x ".repeat(800))).toBe("x ".repeat(500));
    // And looked at no further than four thousand, however much of them goes.
    expect(cleanText(`http://${"x".repeat(3_990)} end`)).toBe("[address] en");
    const long = "0123456789abcdefghijklmnopqrstuv";
    expect(cleanText(`X${long}`)).toBe("[key]");
    expect(cleanText(long)).toBe("[key]");
    expect(cleanText(long.slice(1))).toBe(long.slice(1));
    expect(cleanText("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL")).toBe("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL");
    expect(cleanText("Bearer abc123")).toBe("[key]");
    expect(cleanText("Bearer abc***")).toBe("[key]");
    expect(cleanText("key ab***yz")).toBe("key ab***yz");
    expect(cleanText("key abc***xyz")).toBe("key [key]");
  });

  test("in every member of the error, after the channel's own secrets", () => {
    const redact = (text: string): string => text.replaceAll("geheim", "[own]");
    const told = { message: "geheim at 10.0.0.1", type: "geheim", code: "10.0.0.1", param: "x geheim" };
    expect(classifyStatus(redact, 400, told, none).error).toEqual({
      message: "[own] at [address]",
      type: "[own]",
      code: "[address]",
      param: "x [own]",
    });
    expect(classifyStatus(redact, 400, { ...told, param: null }, none).error?.param).toBeNull();
  });
});
