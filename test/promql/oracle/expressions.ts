/** Expressions of PromQL by a seed: of the whole grammar, most of them valid, over the series of the conformance data. */
import type { Random } from '../../fuzz/random.ts';

type Type = 'vector' | 'scalar' | 'matrix';
/** How a function is called: what it takes, and what goes in where that is no expression. */
type Shape = readonly [name: string, ...parts: string[]];

const METRICS = ['http_requests_total', 'memory_bytes', 'request_seconds_bucket', 'request_seconds_count', 'request_seconds_sum'];
const OTHERS = ['temperature_celsius', 'up', 'sparse_gauge', 'flap', 'odd_values', 'no_job_total', 'build_info', 'nothing_here'];
const MATCHERS = ['job="api"', 'job!="web"', 'job=~"a.*|w.*"', 'instance=~".*-[01]:80"', 'code=~"4..|5.."', 'path!="/"', 'code!~"2.."', 'job=""', 'le="+Inf"']; // prettier-ignore
const WINDOWS = ['1m', '90s', '5m', '7m30s', '15m', '1h'];
const LABELS = ['job', 'instance', 'code', 'path', 'le', 'none'];

const OVER_TIME: readonly Shape[] = [
  ...['rate', 'increase', 'delta', 'irate', 'idelta', 'deriv', 'changes', 'resets', 'absent_over_time', 'present_over_time'].map((name): Shape => [name, 'matrix']), // prettier-ignore
  ...['avg', 'sum', 'min', 'max', 'count', 'last', 'stddev', 'stdvar', 'first', 'mad'].map((name): Shape => [
    `${name}_over_time`,
    'matrix',
  ]),
  ...['min', 'max', 'last', 'first'].map((name): Shape => [`ts_of_${name}_over_time`, 'matrix']),
  ['quantile_over_time', 'scalar', 'matrix'],
  ['predict_linear', 'matrix', 'scalar'],
  ['double_exponential_smoothing', 'matrix', '0.3', '0.6'],
];
const OF_VECTORS: readonly Shape[] = [
  ...['abs', 'ceil', 'floor', 'exp', 'ln', 'log2', 'log10', 'sqrt', 'sgn', 'sin', 'cos', 'tan', 'atan', 'tanh', 'deg', 'rad'].map((name): Shape => [name, 'vector']), // prettier-ignore
  ...['timestamp', 'minute', 'hour', 'day_of_week', 'day_of_month', 'day_of_year', 'month', 'year', 'days_in_month', 'absent'].map((name): Shape => [name, 'vector']), // prettier-ignore
  ['round', 'vector'],
  ['round', 'vector', 'scalar'],
  ['clamp', 'vector', 'scalar', 'scalar'],
  ['clamp_min', 'vector', 'scalar'],
  ['clamp_max', 'vector', 'scalar'],
  ['histogram_quantile', 'scalar', 'vector'],
  ['label_replace', 'vector', '"own"', '"$1-x"', '"job"', '"(.*)"'],
  ['label_replace', 'vector', '"job"', '"$1"', '"instance"', '"([a-z]+).*"'],
  ['label_join', 'vector', '"own"', '"/"', '"job"', '"instance"'],
  ['vector', 'scalar'],
];
const OF_SCALARS: readonly Shape[] = [['scalar', 'vector'], ['time'], ['pi']];
const AGGREGATIONS = ['sum', 'avg', 'min', 'max', 'count', 'group', 'stddev', 'stdvar'];
/** Series whose values all differ. */
const UNLIKE = ['http_requests_total', 'rate(http_requests_total[5m])', 'request_seconds_sum', 'increase(request_seconds_sum[15m])'];
const ARITHMETIC = ['+', '-', '*', '/', '%', '^', 'atan2'];
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const SETS = ['and', 'or', 'unless'];
const NUMBERS = ['0', '1', '2', '0.5', '-1', '100', '1e3', '0x1f', 'NaN', 'Inf', '0.99'];

/** Makes expressions; the same ones of the same `Random`. */
export class Expressions {
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The next one: a vector most often. */
  next(): string {
    // its series come in any order, and its labels have every digit: nothing that chooses or computes may stand around or within it
    if (this.#chance(40)) return `count_values by (${this.#labels()}) ("own", ${this.#selector()})`;
    return this.#of(this.#chance(8) ? 'scalar' : 'vector', 1 + this.#random.below(4));
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#random.below(list.length)] as T;
  }

  #chance(of: number): boolean {
    return this.#random.below(of) === 0;
  }

  #of(type: Type, depth: number): string {
    if (type === 'matrix') return this.#matrix(depth);
    return type === 'scalar' ? this.#scalar(depth) : this.#vector(depth);
  }

  #scalar(depth: number): string {
    if (depth <= 0 || this.#chance(2)) return this.#pick(NUMBERS);
    if (this.#chance(2)) return this.#call(this.#pick(OF_SCALARS), depth);
    if (this.#chance(4)) return `(${this.#scalar(depth - 1)} ${this.#pick(COMPARISONS)} bool ${this.#scalar(depth - 1)})`;
    return `(${this.#scalar(depth - 1)} ${this.#pick(ARITHMETIC)} ${this.#scalar(depth - 1)})`;
  }

  #vector(depth: number): string {
    if (depth <= 0) return this.#selector();
    switch (this.#random.below(9)) {
      case 0:
        return this.#selector();
      case 1:
      case 2:
        return this.#call(this.#pick(OVER_TIME), depth);
      case 3:
        return this.#call(this.#pick(OF_VECTORS), depth);
      case 4:
      case 5:
        return this.#aggregation(depth);
      case 6:
        return `${this.#pick(['-', '+', ''])}(${this.#vector(depth - 1)})`;
      default:
        return this.#binary(depth);
    }
  }

  #call([name, ...parts]: Shape, depth: number): string {
    const given = parts.map((part) => (part === 'vector' || part === 'scalar' || part === 'matrix' ? this.#of(part, depth - 1) : part));
    return `${name}(${given.join(', ')})`;
  }

  #selector(): string {
    const metric = this.#pick(this.#chance(3) ? OTHERS : METRICS);
    const matchers = Array.from({ length: this.#random.below(3) }, () => this.#pick(MATCHERS));
    return `${metric}${matchers.length === 0 ? '' : `{${matchers.join(',')}}`}${this.#times()}`;
  }

  /** `offset`, `@`, in either order. */
  #times(): string {
    const parts: string[] = [];
    if (this.#chance(8)) parts.push(` offset ${this.#pick(['30s', '5m', '-2m', '1h'])}`);
    if (this.#chance(12)) parts.push(` @ ${this.#pick(['start()', 'end()', '1795600000', '1795604321.5'])}`);
    return (this.#chance(2) ? parts : parts.reverse()).join('');
  }

  #matrix(depth: number): string {
    if (depth > 0 && this.#chance(6))
      return `(${this.#vector(depth - 1)})[${this.#pick(['10m', '30m', '1h'])}:${this.#pick(['', '1m', '45s', '5m'])}]${this.#times()}`;
    const selector = this.#selector();
    const at = selector.search(/ (?:offset|@)/);
    const [own, times] = at < 0 ? [selector, ''] : [selector.slice(0, at), selector.slice(at)];
    return `${own}[${this.#pick(WINDOWS)}]${times}`;
  }

  #aggregation(depth: number): string {
    const inner = this.#vector(depth - 1);
    const grouping = this.#chance(3) ? '' : ` ${this.#pick(['by', 'without'])} (${this.#labels()})`;
    if (this.#chance(5)) return `quantile${grouping}(${this.#pick(['0.5', '0.9', '0', '1', '-1', '2'])}, ${inner})`;
    // of equal values any may be chosen
    if (this.#chance(6))
      return `${this.#pick(['topk', 'bottomk'])}${grouping}(${this.#pick(['1', '2', '3', '100'])}, ${this.#pick(UNLIKE)})`;
    return `${this.#pick(AGGREGATIONS)}${grouping}(${inner})`;
  }

  #labels(): string {
    return Array.from({ length: this.#random.below(3) }, () => this.#pick(LABELS)).join(', ');
  }

  #binary(depth: number): string {
    const [isSet, isComparison] = [this.#chance(5), this.#chance(3)];
    const operator = this.#pick(isSet ? SETS : isComparison ? COMPARISONS : ARITHMETIC);
    const bool = !isSet && isComparison && this.#chance(3) ? ' bool' : '';
    const [left, right] = [this.#vector(depth - 1), this.#chance(3) && !isSet ? this.#scalar(depth - 1) : this.#vector(depth - 1)];
    const matching = this.#chance(2) || /^[\d(.NI-]/.test(right) ? '' : this.#matching(isSet);
    const [first, second] = matching === '' && !isSet && this.#chance(4) ? [right, left] : [left, right];
    return `(${first} ${operator}${bool}${matching} ${second})`;
  }

  #matching(isSet: boolean): string {
    const on = ` ${this.#pick(['on', 'ignoring'])} (${this.#labels()})`;
    return isSet || this.#chance(2) ? on : `${on} ${this.#pick(['group_left', 'group_right'])}${this.#pick(['', '()', ' (code)'])}`;
  }
}
