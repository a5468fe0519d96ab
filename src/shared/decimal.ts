/**
 * Exact decimals: an integer and the number of its digits after the point. Only what pricing needs; no division, so
 * nothing is rounded before `roundHalfAway`.
 */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

export const zero: Decimal = { digits: 0n, scale: 0 };
export const one: Decimal = { digits: 1n, scale: 0 };

/**
 * The decimal of a text or a number (a number by its shortest text, so 0.1 is one tenth). Exponents are accepted, so
 * that every finite number is one. Throws a RangeError for anything else.
 */
export function toDecimal(value: number | string): Decimal {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,3}))?$/.exec(String(value).trim());
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match ?? [];
  const shift = Number(exponent);
  if (!match || whole + fraction === "") throw new RangeError(`not a decimal: ${value}`);
  const digits = BigInt(`${sign === "-" ? "-" : ""}${whole}${fraction}`);
  const scale = fraction.length - shift;
  return trimmed(scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale });
}

function trimmed({ digits, scale }: Decimal): Decimal {
  if (digits === 0n) return zero;
  let [rest, places] = [digits, scale];
  while (places > 0 && rest % 10n === 0n) [rest, places] = [rest / 10n, places - 1];
  return { digits: rest, scale: places };
}

export function multiply(...factors: readonly Decimal[]): Decimal {
  return trimmed({
    digits: factors.reduce((product, factor) => product * factor.digits, 1n),
    scale: factors.reduce((places, factor) => places + factor.scale, 0),
  });
}

/** The same value with `scale` places after the point; `scale` must not be smaller than the value's own. */
export function rescale(value: Decimal, scale: number): bigint {
  return scale === value.scale ? value.digits : value.digits * 10n ** BigInt(scale - value.scale);
}

/** The decimal text, without trailing zeros and without exponent: "0.000125". */
export function printDecimal(value: Decimal): string {
  const { digits, scale } = value;
  if (scale === 0 || digits === 0n) return String(digits);
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits);
  const point = text.length - scale;
  let end = text.length;
  while (end > point && text.charCodeAt(end - 1) === ZERO) end--;
  if (end === point) return sign + text.slice(0, point);
  return point > 0
    ? `${sign}${text.slice(0, point)}.${text.slice(point, end)}`
    : `${sign}0.${"0".repeat(-point)}${text.slice(0, end)}`;
}

const ZERO = 48;

/** numerator / denominator rounded to a whole number, half away from zero. The denominator is positive. */
export function roundHalfAway(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const rounded = (2n * magnitude + denominator) / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

/** The value with at most `places` digits after the point, rounded half away from zero. For display only. */
export function roundTo(value: Decimal, places: number): Decimal {
  if (value.scale <= places) return value;
  return trimmed({ digits: roundHalfAway(value.digits, 10n ** BigInt(value.scale - places)), scale: places });
}
