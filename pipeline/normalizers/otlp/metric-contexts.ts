import { factsText, type Kind, type Labels } from '../../samples/definition.ts';
import type { PointMetric } from './metric-point.ts';
import { metricName, unitName } from './prometheus-names.ts';

/** What the series of a metric of a resource share: their name, what is known of them, and a number that no other context has had. */
export type MetricContext = { readonly id: number; readonly name: string; readonly facts: string; readonly shared: Labels };

/** Characters of all keys; where there are more, all are forgotten. */
const KEY_CHARACTERS = 4 * 1024 * 1024;

const KINDS: Readonly<Record<PointMetric['kind'], Kind>> = {
  ...{ gauge: 'gauge', sum: 'counter', histogram: 'histogram', exponentialHistogram: 'histogram', summary: 'summary' },
};

/** Contexts by what they are made of. A number is never given again, so what is remembered by it stays right when contexts are forgotten. */
export class MetricContexts {
  #made = 0;
  #characters = 0;
  readonly #contexts = new Map<string, MetricContext>();
  readonly #keyCharacters: number;

  constructor(keyCharacters = KEY_CHARACTERS) {
    this.#keyCharacters = keyCharacters;
  }

  /** The context of a metric. `sharedText` is the JSON of `shared`; `isAny`: names may have any characters. */
  of(metric: PointMetric, shared: Labels, sharedText: string, isAny: boolean): MetricContext {
    const { name, description, unit, kind, isDelta, isMonotonic } = metric;
    const lengths = `${String(name.length)},${String(description.length)},${String(unit.length)},${sharedText}`;
    const key = `${kind},${String(isDelta)},${String(isMonotonic)},${String(isAny)},${lengths}${name}${description}${unit}`;
    const known = this.#contexts.get(key);
    if (known !== undefined) return known;
    if (this.#characters + key.length > this.#keyCharacters) {
      this.#contexts.clear();
      this.#characters = 0;
    }
    const shown = kind === 'sum' && !isMonotonic ? (isDelta ? 'unknown' : 'gauge') : KINDS[kind];
    const facts = factsText({ kind: shown, help: description, unit: unitName(unit), isDelta });
    const made = { id: ++this.#made, name: metricName(metric, isAny), facts, shared };
    this.#contexts.set(key, made);
    this.#characters += key.length;
    return made;
  }
}
