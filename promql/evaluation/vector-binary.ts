/** Arithmetic and comparisons between two vectors. */
import type { Note } from '../base/annotations.ts';
import type { Binary, Matching } from '../base/ast.ts';
import { PromqlExecutionError, SAME_LABELS } from '../base/errors.ts';
import { ABSENT, FLOAT, StepSeries } from '../base/series.ts';
import { compareLabels, Labels, METRIC_NAME, withoutName } from '../values/labels.ts';
import { combineElements, isArithmetic, scalarOperator, type Sample } from './elements.ts';
import { matchLabels, signaturesOf } from './matching.ts';

/** A sample and the series it is of; of a filled one, the labels that it would be matched by. */
type Side = { readonly labels: Labels; readonly sample: Sample; readonly place: number; readonly dropName: boolean };

/** Two series that find each other, and the labels of what they make. */
type Pair = { readonly many: StepSeries; readonly one: StepSeries; readonly labels: Labels };

/** One operator at work, with its "many" side on the left. */
class VectorBinary {
  readonly #node: Binary;
  readonly #matching: Matching;
  readonly #isSwapped: boolean;
  readonly #steps: number;
  readonly #isNameDelayed: boolean;
  readonly #note: (note: Note) => void;
  readonly #many: readonly StepSeries[];
  readonly #one: readonly StepSeries[];
  readonly #manySignatures: Int32Array;
  readonly #oneSignatures: Int32Array;
  /** At the current step: the series of the "one" side of each match group, and groups that have found a partner. */
  readonly #found: Int32Array;
  readonly #matched: (Set<string> | true | undefined)[];
  readonly #labels = new Map<number, Labels>();
  readonly #out = new Map<string, StepSeries>();

  constructor(
    node: Binary,
    matching: Matching,
    sides: readonly [StepSeries[], StepSeries[]],
    run: { steps: number; isNameDelayed: boolean; note: (note: Note) => void },
  ) {
    this.#node = node;
    this.#matching = matching;
    this.#isSwapped = matching.cardinality === 'one-to-many';
    this.#steps = run.steps;
    this.#isNameDelayed = run.isNameDelayed;
    this.#note = run.note;
    const signatures = signaturesOf(sides[0], sides[1], matching);
    this.#many = this.#isSwapped ? sides[1] : sides[0];
    this.#one = this.#isSwapped ? sides[0] : sides[1];
    this.#manySignatures = this.#isSwapped ? signatures.right : signatures.left;
    this.#oneSignatures = this.#isSwapped ? signatures.left : signatures.right;
    this.#found = new Int32Array(signatures.count);
    this.#matched = new Array<Set<string> | true | undefined>(signatures.count);
  }

  run(): StepSeries[] {
    const hasFill = this.#matching.fillLeft !== undefined || this.#matching.fillRight !== undefined;
    const pairs = hasFill ? null : this.#fixedPairs();
    if (pairs !== null) return pairs.map((pair) => this.#combinePair(pair)).filter((series) => !series.isEmpty);
    for (let step = 0; step < this.#steps; step += 1) {
      const [isMany, isOne] = [this.#many, this.#one].map((side) => side.some(({ kinds }) => kinds[step] !== ABSENT));
      if (hasFill ? isMany === true || isOne === true : isMany === true && isOne === true) this.#step(step);
    }
    return [...this.#out.values()].filter((series) => !series.isEmpty);
  }

  /** Pairs of series that find each other at every step; null where it depends on the step which do, or whether they may. */
  #fixedPairs(): readonly Pair[] | null {
    const partners = new Int32Array(this.#found.length).fill(-1);
    for (const [place, signature] of this.#oneSignatures.entries()) {
      if (partners[signature] !== -1) return null;
      partners[signature] = place;
    }
    const isOneToOne = this.#matching.cardinality === 'one-to-one';
    const taken = new Uint8Array(this.#found.length);
    const keys = new Set<string>();
    const pairs: Pair[] = [];
    for (const [place, signature] of this.#manySignatures.entries()) {
      const [many, partner] = [this.#many[place], partners[signature] ?? -1];
      const one = this.#one[partner];
      if (many === undefined || one === undefined) continue;
      if (isOneToOne && taken[signature] === 1) return null;
      taken[signature] = 1;
      const labels = this.#resultLabels({ labels: many.labels, place: -1 }, { labels: one.labels, place: -1 });
      if (keys.has(labels.key)) return null;
      keys.add(labels.key);
      pairs.push({ many, one, labels });
    }
    return pairs;
  }

  /** Two series, at all steps. */
  #combinePair({ many, one, labels }: Pair): StepSeries {
    const { operator, isBool } = this.#node;
    const out = new StepSeries(labels, this.#steps, isBool || (many.dropName && !isArithmetic(operator)));
    const [left, right] = this.#isSwapped ? [one, many] : [many, one];
    const compute = isBool || isArithmetic(operator) ? scalarOperator(operator) : undefined;
    for (let step = 0; step < this.#steps; step += 1) {
      const [kind, other] = [left.kinds[step], right.kinds[step]];
      if (kind === ABSENT || other === ABSENT) continue;
      if (compute !== undefined && kind === FLOAT && other === FLOAT) {
        out.values[step] = compute(left.values[step] as number, right.values[step] as number);
        out.kinds[step] = FLOAT;
        continue;
      }
      const { sample, isKept } = combineElements(operator, sampleOf(left, step), sampleOf(right, step), this.#note);
      if (sample === undefined || (!isKept && !isBool)) continue;
      if (isBool || typeof sample === 'number') out.setFloat(step, isBool ? (isKept ? 1 : 0) : (sample as number));
      else out.setHistogram(step, sample);
    }
    return out;
  }

  #step(step: number): void {
    this.#found.fill(-1);
    this.#matched.fill(undefined);
    this.#one.forEach(({ kinds }, place) => {
      if (kinds[step] === ABSENT) return;
      const signature = this.#oneSignatures[place] as number;
      const other = this.#found[signature] as number;
      if (other >= 0) this.#failDuplicate(place, other);
      this.#found[signature] = place;
    });
    // with group_right, too, fill_right stands for a missing "one" side, and fill_left for a missing "many" side: as in Prometheus
    const { fillRight: fillOne, fillLeft: fillMany } = this.#matching;
    this.#many.forEach((series, place) => {
      if (series.kinds[step] === ABSENT) return;
      const signature = this.#manySignatures[place] as number;
      const partner = this.#found[signature] as number;
      const many = sideOf(series, place, step);
      const found = partner < 0 ? undefined : this.#one[partner];
      if (found !== undefined) this.#combine(many, sideOf(found, partner, step), signature, step);
      else if (fillOne !== undefined) this.#combine(many, this.#filled(series, fillOne), signature, step);
    });
    if (fillMany === undefined) return;
    this.#found.forEach((place, signature) => {
      const series = place < 0 ? undefined : this.#one[place];
      if (series !== undefined && this.#matched[signature] === undefined)
        this.#combine(this.#filled(series, fillMany), sideOf(series, place, step), signature, step);
    });
  }

  #filled(other: StepSeries, value: number): Side {
    return { labels: matchLabels(other.labels, this.#matching), sample: value, place: -1, dropName: false };
  }

  #failDuplicate(place: number, other: number): never {
    const [one = Labels.NONE, two = Labels.NONE] = [place, other].map((at) => this.#one[at]?.labels ?? Labels.NONE).sort(compareLabels);
    const side = this.#isSwapped ? 'left' : 'right';
    const group = matchLabels(one, this.#matching).toString();
    throw new PromqlExecutionError(
      `found duplicate series for the match group ${group} on the ${side} hand-side of the operation: [${one.toString()}, ${two.toString()}];many-to-many matching not allowed: matching labels must be unique on one side`,
    );
  }

  #combine(many: Side, one: Side, signature: number, step: number): void {
    const { operator, isBool } = this.#node;
    const [left, right] = this.#isSwapped ? [one.sample, many.sample] : [many.sample, one.sample];
    const { sample, isKept } = combineElements(operator, left, right, this.#note);
    if (sample === undefined) return;
    const labels = this.#resultLabels(many, one);
    this.#checkUnique(signature, labels);
    if (!isKept && !isBool) return;
    this.#set(labels, isBool ? (isKept ? 1 : 0) : sample, step, isBool || (many.dropName && !isArithmetic(operator)));
  }

  #checkUnique(signature: number, labels: Labels): void {
    const matched = this.#matched[signature];
    if (this.#matching.cardinality === 'one-to-one') {
      if (matched !== undefined)
        throw new PromqlExecutionError('multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)');
      this.#matched[signature] = true;
      return;
    }
    const keys = matched instanceof Set ? matched : new Set<string>();
    if (keys.has(labels.key)) throw new PromqlExecutionError('multiple matches for labels: grouping labels must ensure unique matches');
    keys.add(labels.key);
    this.#matched[signature] = keys;
  }

  #set(labels: Labels, sample: Sample, step: number, dropName: boolean): void {
    const out = this.#out.get(labels.key) ?? new StepSeries(labels, this.#steps, dropName);
    this.#out.set(labels.key, out);
    if (out.kinds[step] !== ABSENT) throw new PromqlExecutionError(SAME_LABELS);
    if (typeof sample === 'number') out.setFloat(step, sample);
    else out.setHistogram(step, sample);
  }

  /** The labels of a result, which depend on the two series alone. */
  #resultLabels(many: Pick<Side, 'labels' | 'place'>, one: Pick<Side, 'labels' | 'place'>): Labels {
    const known = many.place < 0 || one.place < 0 ? undefined : this.#labels.get(many.place * this.#one.length + one.place);
    if (known !== undefined) return known;
    const { cardinality, isOn, labels: names, include } = this.#matching;
    const isUnnamed = isArithmetic(this.#node.operator) || (this.#node.isBool && !this.#isNameDelayed);
    let labels = isUnnamed ? withoutName(many.labels) : many.labels;
    if (cardinality === 'one-to-one') labels = isOn ? labels.only(new Set(names)) : labels.without(new Set(names));
    for (const name of include) labels = labels.with(name, one.labels.get(name));
    if (isUnnamed && !include.includes(METRIC_NAME) && !(isOn && names.includes(METRIC_NAME))) labels = withoutName(labels);
    if (many.place >= 0 && one.place >= 0) this.#labels.set(many.place * this.#one.length + one.place, labels);
    return labels;
  }
}

const sampleOf = (series: StepSeries, step: number): Sample =>
  series.kinds[step] === FLOAT ? (series.values[step] as number) : series.histogramAt(step);

const sideOf = (series: StepSeries, place: number, step: number): Side => ({
  labels: series.labels,
  sample: sampleOf(series, step),
  place,
  dropName: series.dropName,
});

/** The operator between two vectors. Throws where series do not match as it was asked for. */
export function combineVectors(
  node: Binary,
  matching: Matching,
  left: StepSeries[],
  right: StepSeries[],
  run: { readonly steps: number; readonly isNameDelayed: boolean; readonly note: (note: Note) => void },
): StepSeries[] {
  return new VectorBinary(node, matching, [left, right], run).run();
}
