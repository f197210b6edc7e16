/** Labels of a series: names and values in the order of their names, and one string for all of them by which series are told apart. */

/** The label that has a metric's name. */
export const METRIC_NAME = '__name__';
/** The label that has the upper bound of a bucket of a classic histogram. */
export const BUCKET = 'le';

/** The pairs of a series, sorted by name; no value is empty. Equal sets have equal keys. */
export class Labels {
  static readonly NONE = new Labels([]);
  /** Names and values by turns. */
  readonly flat: readonly string[];
  #key: string | undefined;

  private constructor(flat: readonly string[]) {
    this.flat = flat;
  }

  /** From pairs in any order; pairs with an empty value are left out, and of a name that comes twice the last holds. */
  static of(pairs: Iterable<readonly [string, string]>): Labels {
    const map: ReadonlyMap<string, string> = pairs instanceof Map ? (pairs as Map<string, string>) : new Map(pairs);
    const flat: string[] = [];
    let [before, isSorted] = ['', true];
    for (const [name, value] of map) {
      if (value === '') continue;
      isSorted &&= before <= name;
      before = name;
      flat.push(name, value);
    }
    // as those of a store mostly are
    if (isSorted) return new Labels(flat);
    const names = [...map.keys()].filter((name) => map.get(name) !== '').sort();
    return new Labels(names.flatMap((name) => [name, map.get(name) ?? '']));
  }

  /** From names and values by turns that are sorted already. */
  static ofSorted(flat: readonly string[]): Labels {
    return new Labels(flat);
  }

  /** What tells this set from all others. */
  get key(): string {
    return (this.#key ??= this.flat.join('\u0000'));
  }

  get size(): number {
    return this.flat.length / 2;
  }

  /** The value of a label, empty where there is none. */
  get(name: string): string {
    for (let at = 0; at < this.flat.length; at += 2) if (this.flat[at] === name) return this.flat[at + 1] ?? '';
    return '';
  }

  get metricName(): string {
    return this.get(METRIC_NAME);
  }

  /** The pairs, in the order of their names. */
  pairs(): (readonly [string, string])[] {
    const out: (readonly [string, string])[] = [];
    for (let at = 0; at < this.flat.length; at += 2) out.push([this.flat[at] ?? '', this.flat[at + 1] ?? '']);
    return out;
  }

  /** Those whose names fulfil a condition; the same object where all do. */
  filter(keep: (name: string) => boolean): Labels {
    const flat: string[] = [];
    for (let at = 0; at < this.flat.length; at += 2) {
      const name = this.flat[at] ?? '';
      if (keep(name)) flat.push(name, this.flat[at + 1] ?? '');
    }
    return flat.length === this.flat.length ? this : new Labels(flat);
  }

  /** Only those of a set. */
  only(names: ReadonlySet<string>): Labels {
    return this.filter((name) => names.has(name));
  }

  /** All but those of a set. */
  without(names: ReadonlySet<string>): Labels {
    return this.filter((name) => !names.has(name));
  }

  /** With a label set to a value, or without it where the value is empty. */
  with(name: string, value: string): Labels {
    return this.get(name) === value ? this : Labels.of([...this.pairs(), [name, value]]);
  }

  /** `{a="b", c="d"}`, as Prometheus shows labels in messages. */
  toString(): string {
    return `{${this.pairs()
      .map(([name, value]) => `${/^[A-Za-z_][\w]*$/.test(name) ? name : quote(name)}=${quote(value)}`)
      .join(', ')}}`;
  }

  toJSON(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.pairs());
  }
}

/** The order of series in an answer: by the first name that differs, then by its value. */
export function compareLabels(a: Labels, b: Labels): number {
  const length = Math.min(a.flat.length, b.flat.length);
  for (let at = 0; at < length; at += 1) {
    const [left = '', right = ''] = [a.flat[at], b.flat[at]];
    if (left !== right) return left < right ? -1 : 1;
  }
  return a.flat.length - b.flat.length;
}

/** The labels that describe a metric and not what it measures: they go where a result is another quantity. */
const METADATA = new Set([METRIC_NAME, '__type__', '__unit__']);

/** Without the metric's name, type and unit. */
export const withoutName = (labels: Labels): Labels => labels.without(METADATA);

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A string in double quotes, as Go's strconv.Quote writes it. Bytes that are no UTF-8 are lone surrogates here, from U+DC80 (`unquote`). */
export function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const escaped = ESCAPES[char];
    if (escaped !== undefined) out += escaped;
    else if (code >= 0xdc80 && code <= 0xdcff) out += `\\x${(code - 0xdc00).toString(16)}`;
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (code >= 0x80 && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(char))
      out += code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
    else out += char;
  }
  return `${out}"`;
}
