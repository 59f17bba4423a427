// Decimal arithmetic on whole units, so that no value passes through a binary fraction.

/** A decimal: `units` divided by ten to the power of `places` (0 or more). */
export interface Decimal {
  readonly units: bigint;
  readonly places: number;
}

/** Reads a plain decimal text ("-12.50"), or a finite number by its shortest text. */
export function decimalOf(value: string | number): Decimal {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const units = BigInt(whole + fraction);
  const places = fraction.length - Number(exponent);
  return places < 0 ? { units: units * 10n ** BigInt(-places), places: 0 } : { units, places };
}

/** The product of two decimals. */
export function times(a: Decimal, b: Decimal): Decimal {
  return { units: a.units * b.units, places: a.places + b.places };
}

/** The sum of two decimals. */
export function plus(a: Decimal, b: Decimal): Decimal {
  const places = Math.max(a.places, b.places);
  return { units: scaled(a, places) + scaled(b, places), places };
}

/** Rounds half away from zero to at most this many places. */
export function rounded(a: Decimal, places: number): Decimal {
  if (a.places <= places) return a;
  const step = 10n ** BigInt(a.places - places);
  const half = a.units < 0n ? -step / 2n : step / 2n;
  return { units: (a.units + half) / step, places };
}

/** The number whose shortest text says exactly this decimal, or undefined where there is none. */
export function numberOf(a: Decimal): number | undefined {
  const number = Number(`${a.units}e-${a.places}`);
  if (!Number.isFinite(number)) return undefined;
  const back = decimalOf(number);
  const places = Math.max(a.places, back.places);
  if (scaled(a, places) !== scaled(back, places)) return undefined;
  // -0 and 0 are one value everywhere.
  return number === 0 ? 0 : number;
}

function scaled({ units, places: from }: Decimal, places: number): bigint {
  return units * 10n ** BigInt(places - from);
}
