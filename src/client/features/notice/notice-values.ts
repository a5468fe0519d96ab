import type { FieldErrors, Resolver } from "react-hook-form";
import {
  type NoticeSettingInput,
  noticeSettingInput,
  noticeSettingSchema,
  type NotifyType,
  settingMembers,
} from "../../../shared/notice";

/** The form's fields; a secret is "" until another one is typed. */
export interface NoticeValues {
  notify_type: NotifyType;
  /** Units; null or 0 = the operator's. */
  quota_warning_threshold: number | null;
  notification_email: string;
  webhook_url: string;
  webhook_secret: string;
  bark_url: string;
  gotify_url: string;
  gotify_token: string;
  gotify_priority: number | null;
}

/** What the form starts with, from `setting` of the signed-in account. */
export function valuesOf(setting: string): { values: NoticeValues; secrets: { webhook: boolean; gotify: boolean } } {
  const {
    language: _,
    webhook_secret_set,
    gotify_token_set,
    ...plain
  } = noticeSettingSchema.parse(settingMembers(setting));
  return {
    values: { ...plain, webhook_secret: "", gotify_token: "" },
    secrets: { webhook: webhook_secret_set, gotify: gotify_token_set },
  };
}

/** What is sent: the fields of the chosen way and the threshold. Those of other ways stay as they are. */
export function inputOf(values: NoticeValues): NoticeSettingInput {
  const { notify_type, quota_warning_threshold, notification_email, webhook_url, webhook_secret, bark_url } = values;
  const { gotify_url, gotify_token, gotify_priority } = values;
  const common = { notify_type, quota_warning_threshold: quota_warning_threshold ?? 0 };
  const own: Record<NotifyType, NoticeSettingInput> = {
    email: { notification_email },
    webhook: { webhook_url, webhook_secret },
    bark: { bark_url },
    gotify: { gotify_url, gotify_token, gotify_priority: gotify_priority ?? 5 },
  };
  return { ...common, ...own[notify_type] };
}

/** The shared rules on what would be sent. */
export const noticeResolver: Resolver<NoticeValues> = (values) => {
  const checked = noticeSettingInput.safeParse(inputOf(values));
  if (checked.success) return { values, errors: {} };
  const errors: FieldErrors<NoticeValues> = Object.fromEntries(
    checked.error.issues.map(({ path, message }) => [String(path[0]), { type: "shared", message }]),
  );
  return { values: {}, errors };
};
