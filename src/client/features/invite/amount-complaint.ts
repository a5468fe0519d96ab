import { errorText } from "../../../shared/errors";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";
import { quotaPerUnit } from "../../lib/status";

/** What is wrong with an amount to withdraw from the user's earnings; undefined when it is valid. */
export function amountComplaint(
  kind: "transfer" | "withdrawal",
  amount: number | null,
  available: number,
): string | undefined {
  const smallest = Math.ceil(quotaPerUnit());
  if (amount === null || !Number.isSafeInteger(amount) || amount <= 0)
    return errorText(`${kind}_invalid`, {}, currentLanguage());
  if (amount < smallest) return errorText(`${kind}_too_small`, { minimum: quotaText(smallest) }, currentLanguage());
  if (amount > available)
    return errorText("invite_quota_insufficient", { balance: quotaText(available) }, currentLanguage());
  return undefined;
}
