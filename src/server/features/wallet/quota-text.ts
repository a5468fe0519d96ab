/** Units as text for names, log rows and messages: dollars, or units where the operator shows units. */
import type { Services } from "../../contracts/context";

const dollars = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 6 });

/** 100000 -> "$0.20"; "100000" where balances are shown in units. */
export function quotaText({ options }: Pick<Services, "options">, units: number): string {
  if (!options.get("DisplayInCurrencyEnabled")) return String(units);
  return `${units < 0 ? "-" : ""}$${dollars.format(Math.abs(units) / options.get("QuotaPerUnit"))}`;
}
