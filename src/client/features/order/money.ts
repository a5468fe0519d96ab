import { currentLanguage } from "../../lib/i18n";

/** "73.00", "cny" -> ¥73.00. */
export function moneyText(money: string, currency: string): string {
  const locale = currentLanguage() === "zh" ? "zh-CN" : "en-US";
  try {
    return new Intl.NumberFormat(locale, { style: "currency", currency, currencyDisplay: "narrowSymbol" }).format(
      Number(money),
    );
  } catch {
    // No currency that the browser knows.
    return `${money} ${currency.toUpperCase()}`.trim();
  }
}
