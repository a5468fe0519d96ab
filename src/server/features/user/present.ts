/** What may leave the server of an account. Hashes, tokens and codes are not listed here, so they cannot. */
import { boundIds } from "../../../shared/identity";
import type { SignedInUser } from "../../../shared/user";
import type { ManagedUser } from "../../../shared/user-manage";
import type { UserRow } from "../../db/schema";
import { presentSetting, presentSettingToAdmin } from "../notice/setting";

export const presentSignedIn = (row: UserRow): SignedInUser => ({
  id: row.id,
  username: row.username,
  display_name: row.display_name,
  role: row.role,
  status: row.status,
  group: row.group,
});

const deletedAt = (row: UserRow) => (row.deleted_at === null ? null : new Date(row.deleted_at * 1000).toISOString());

/** An account as administrators see it. */
export function presentManaged(
  row: UserRow,
  identities: readonly { provider: string; subject: string }[],
): ManagedUser {
  return {
    ...presentSignedIn(row),
    email: row.email,
    ...boundIds(identities),
    quota: row.quota,
    used_quota: row.used_quota,
    request_count: row.request_count,
    aff_code: row.aff_code ?? "",
    aff_count: row.aff_count,
    aff_quota: row.aff_quota,
    aff_history_quota: row.aff_history_quota,
    inviter_id: row.inviter_id,
    rpm: row.rpm,
    tpm: row.tpm,
    concurrency: row.concurrency,
    budget_day: row.budget_day,
    budget_month: row.budget_month,
    created_at: row.created_at,
    last_login_at: row.last_login_at,
    setting: presentSettingToAdmin(row.setting),
    DeletedAt: deletedAt(row),
  };
}

/** GET /api/user/self. Unbound identities are "", never null. */
export const presentUser = (row: UserRow, identities: readonly { provider: string; subject: string }[]) => ({
  ...presentSignedIn(row),
  email: row.email,
  ...boundIds(identities),
  quota: row.quota,
  used_quota: row.used_quota,
  request_count: row.request_count,
  aff_code: row.aff_code ?? "",
  aff_count: row.aff_count,
  aff_quota: row.aff_quota,
  aff_history_quota: row.aff_history_quota,
  inviter_id: row.inviter_id,
  setting: presentSetting(row.setting),
  DeletedAt: deletedAt(row),
});
