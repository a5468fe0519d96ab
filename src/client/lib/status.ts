import { useSyncExternalStore } from "react";
import { t } from "@lingui/core/macro";
import { callApi } from "./http";
import { faultOf } from "./errors";
import { readStored, readStoredJson, writeStored } from "./storage";
import { toastError } from "./toast";

/** The fields of `GET /api/status` that the console reads; the answer may hold more. */
export interface PublicStatus {
  version: string;
  /** True once the first-run set-up is done. */
  setup: boolean;
  system_name: string;
  logo: string;
  footer_html: string;
  server_address: string;
  /** False when the operator allows third-party sign-in only. */
  password_login: boolean;
  /** False when accounts cannot be registered by name and password. */
  password_register: boolean;
  register_enabled: boolean;
  /** Registration asks for an address and a mailed code. */
  email_verification: boolean;
  turnstile_check: boolean;
  turnstile_site_key: string;
  /** Ways to sign in elsewhere (shared/identity.ts). */
  github_oauth: boolean;
  linuxdo_oauth: boolean;
  oidc_enabled: boolean;
  wechat_login: boolean;
  telegram_oauth: boolean;
  /** The picture of the WeChat account's QR code. */
  wechat_qrcode: string;
  telegram_bot_name: string;
  quota_per_unit: number;
  display_in_currency: boolean;
  default_collapse_sidebar: boolean;
  enable_drawing: boolean;
  enable_task: boolean;
  enable_data_export: boolean;
  /** Guests may open the page of the models' status. */
  status_page_enabled: boolean;
  /** Drawing jobs may call back; without it results arrive later. */
  mj_notify_enabled: boolean;
  /** New tokens begin with the group "auto". */
  default_use_auto_group: boolean;
  chats: Record<string, string>[];
  /** Where redemption codes are sold; "" = nowhere. */
  top_up_link: string;
}

/** Cached one by one under their own names as well (D-31): older pages and the menu read them there. */
const CACHED_KEYS = [
  "system_name",
  "logo",
  "footer_html",
  "quota_per_unit",
  "display_in_currency",
  "enable_drawing",
  "enable_task",
  "enable_data_export",
  "status_page_enabled",
  "chats",
  "pay_methods",
  "data_export_default_time",
  "default_collapse_sidebar",
  "mj_notify_enabled",
  "chat_link",
  "chat_link2",
] as const;

export type StatusFlag = "enable_drawing" | "enable_task" | "enable_data_export" | "status_page_enabled";

/** Milliseconds between attempts while the status cannot be loaded. */
const RETRY_DELAYS = [2_000, 4_000, 8_000, 15_000, 30_000];

const isObject = (value: unknown): value is Partial<PublicStatus> => typeof value === "object" && value !== null;
const listeners = new Set<() => void>();
let status: Partial<PublicStatus> = readStoredJson("status", isObject) ?? {};
let loaded = false;
/** Why the last attempt failed. */
let failure: unknown;
let retry: { timer: ReturnType<typeof setTimeout> | undefined; failures: number } = { timer: undefined, failures: 0 };

function cache(next: Partial<PublicStatus>): void {
  writeStored("status", JSON.stringify(next));
  for (const key of CACHED_KEYS) {
    const value: unknown = Reflect.get(next, key);
    if (value === undefined || value === null) writeStored(key, null);
    else writeStored(key, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
}

/**
 * Loads the public status, stores it in local storage and notifies the page. When it fails, one toast says so and it
 * retries, at growing intervals and at once when the connection returns; after a success no timer runs.
 *
 * `shown` resolves when the toast can be shown and its text translated (before that, the translation would throw).
 */
export async function loadStatus(shown: Promise<void> = Promise.resolve()): Promise<void> {
  clearTimeout(retry.timer);
  try {
    status = await callApi<Partial<PublicStatus>>("/api/status");
    cache(status);
    loaded = true;
    failure = undefined;
    retry = { timer: undefined, failures: 0 };
  } catch (error) {
    failure = error;
    await shown;
    const fault = faultOf(error);
    toastError(fault.kind === "unreachable" ? fault.message : t`加载状态失败`, { id: "status" });
    const delay = RETRY_DELAYS[Math.min(retry.failures, RETRY_DELAYS.length - 1)];
    retry = { failures: retry.failures + 1, timer: setTimeout(() => void loadStatus(), delay) };
  }
  for (const listener of listeners) listener();
}

/** Loads the status now, and again when a lost connection returns; call once at start. */
export function watchStatus(shown?: Promise<void>): void {
  void loadStatus(shown);
  window.addEventListener("online", () => {
    if (retry.failures > 0) void loadStatus();
  });
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The public status: the cached one at first, the fresh one as soon as it came. */
export function useStatus(): Partial<PublicStatus> {
  return useSyncExternalStore(subscribe, () => status);
}

/** Like `useStatus`, outside components. */
export const currentStatus = (): Partial<PublicStatus> => status;

/** True once this page load has the server's own answer. */
export function useStatusLoaded(): boolean {
  return useSyncExternalStore(subscribe, () => loaded);
}

/** Why the server's answer could not be had; undefined while it is awaited and once it came. */
export function useStatusFailure(): unknown {
  return useSyncExternalStore(subscribe, () => failure);
}

/** Whether a flag's state is known: from an earlier page load or this one. */
export const flagIsKnown = (flag: StatusFlag): boolean =>
  readStored(flag) !== null || (loaded && failure === undefined);

/** A menu flag as local storage has it: on only when the stored text is `true`. */
export function flagIsOn(flag: StatusFlag): boolean {
  return readStored(flag) === "true";
}

/** Units per dollar; 500,000 until the server said otherwise. */
export function quotaPerUnit(): number {
  const stored = Number(readStored("quota_per_unit"));
  return stored > 0 ? stored : 500_000;
}

/** False when the operator wants raw units instead of dollars. */
export function displayInCurrency(): boolean {
  return readStored("display_in_currency") !== "false";
}
