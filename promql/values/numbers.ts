/** Numbers as Prometheus writes and reads them. */

const SPECIAL: ReadonlyMap<string, number> = new Map(Object.entries({ nan: NaN, inf: Infinity, '+inf': Infinity, '-inf': -Infinity }));

/** The shortest digits that read back as the same, never with an exponent; `NaN`, `+Inf`, `-Inf`. */
export function plainNumber(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const [digits = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const sign = digits.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.');
  const shift = Number(exponent);
  if (shift < 0) return `${sign}0.${'0'.repeat(-shift - 1)}${whole}${fraction}`;
  return `${sign}${whole}${fraction.padEnd(shift, '0')}`;
}

/** As Go's `%g` and JSON's writer of Prometheus' samples have it: with an exponent below 1e-6 and from 1e21. */
export function sampleText(value: number): string {
  const size = Math.abs(value);
  // between these JavaScript writes the same
  if (size >= 1e-6 && size < 1e21) return String(value);
  return size > 0 && size < Infinity ? withExponent(value) : plainNumber(value);
}

/** As Go's `%v` and `%g`: with an exponent below 1e-4 and from 1e21. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return plainNumber(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e21) ? withExponent(value) : plainNumber(value);
}

/** As Go's `%e` with the shortest digits, as alerts' values are shown: `1.5e-07`. */
export const exponentText = (value: number): string => (Number.isFinite(value) ? withExponent(value) : plainNumber(value));

/** `1.5e-07`: an exponent has two digits or more. */
function withExponent(value: number): string {
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const sign = exponent.startsWith('-') ? '-' : '+';
  return `${digits}e${sign}${exponent.replace(/^[+-]/, '').padStart(2, '0')}`;
}

/** A label's value as a number, as Go's ParseFloat reads it; null where it is none. */
export function readNumber(text: string): number | null {
  const special = SPECIAL.get(text.toLowerCase()) ?? SPECIAL.get(text.toLowerCase().replace('infinity', 'inf'));
  if (special !== undefined) return special;
  if (/^[+-]?0x/i.test(text)) return readHex(text);
  if (!/^[+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return null;
  return Number(text.replaceAll('_', ''));
}

function readHex(text: string): number | null {
  const [, sign = '', digits = ''] = /^([+-]?)0x([0-9a-f]+)$/i.exec(text) ?? [];
  if (digits === '') return null;
  return Number(`0x${digits}`) * (sign === '-' ? -1 : 1);
}

/** Whether a number is Prometheus' marker of a series that ended: one bit pattern among all that are not numbers. */
export class StaleMarkers {
  readonly #words: Uint32Array;

  constructor(values: Float64Array) {
    this.#words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  }

  /** Whether the value at this place is the marker. */
  at(index: number): boolean {
    return this.#words[2 * index] === 2 && this.#words[2 * index + 1] === 0x7ff00000;
  }
}

/** The bits of the marker. */
export const STALE_BITS = 0x7ff0000000000002n;
