import { LogsqlSyntaxError } from '../../../logsql/base/errors.ts';
import { AnyFilter } from '../../../logsql/filters/logic.ts';
import { StreamFilter } from '../../../logsql/filters/stream.ts';
import { parseFilter } from '../../../logsql/parser/parser.ts';
import { parseStream } from '../../core/labels.ts';
import type { Setting } from '../../core/setting.ts';
import { SENSITIVITIES, type Sensitivity } from '../../detectors/detector.ts';
import { detectors, patternDetectors, spanDetectors } from '../../detectors/index.ts';
import { NEW_PATTERN } from '../book/alert.ts';

/** The setting of how easily detectors fire, for all tenants or for one: a list of rules, of which the first that fits counts. */
export const SENSITIVITY = 'sensitivity';
/** The merger that it is set for; others get it too. */
export const ALERTING = 'alerting';
/** The detector of error templates that were never seen before, and when it fires. */
const newPattern = { name: NEW_PATTERN, description: 'An error comes whose template was never seen before.' };
/** The detectors that it is set for, and when each fires. */
export const detectorLooks = [...detectors.members, ...spanDetectors.members, ...patternDetectors.members, newPattern].map(({ name, description }) => ({ name, description })); // prettier-ignore
/** Most rules of a tenant. */
const MAX_RULES = 50;

/** How easily a detector fires (all without one), of which streams: a selector of LogsQL (all without one). */
export type SensitivityRule = { readonly detector?: string; readonly stream?: string; readonly sensitivity: Sensitivity };

/** Values that are right. */
export const EXAMPLES: readonly (readonly SensitivityRule[])[] = [
  [],
  [{ sensitivity: 'low' }],
  [{ detector: 'silence', stream: '{service="web"}', sensitivity: 'off' }, { detector: 'log_rate', sensitivity: 'high' }], // prettier-ignore
];

/** How easily a detector fires of a stream. */
export type SensitivityOf = (detector: string, stream: string) => Sensitivity;

/** Null for a string that is not a label set. */
type Labels = ReadonlyMap<string, string> | null;

/** What was set for one tenant, or for all. */
export class Sensitivities {
  readonly #rules: readonly { readonly rule: SensitivityRule; readonly fits: (labels: Labels) => boolean }[];
  /** The stream of the last call, whose label set all rules and detectors look at: ten thousand are evaluated at once. */
  #stream = '{}';
  #labels: Labels = new Map();

  /** `value` was checked by `sensitivityFault`, maybe of another release: what is no longer a rule is passed over. */
  constructor(value: Setting['value']) {
    const rules = (Array.isArray(value) ? value : []).filter((rule) => ruleFault(rule, null) === null) as readonly SensitivityRule[];
    this.#rules = rules.map((rule) => ({ rule, fits: selectorOf(rule.stream ?? '{}') as (labels: Labels) => boolean }));
  }

  /** The sensitivity of the first rule that fits; null where none does. */
  of(detector: string, stream: string): Sensitivity | null {
    if (stream !== this.#stream) [this.#stream, this.#labels] = [stream, labelsOf(stream)];
    const found = this.#rules.find(({ rule, fits }) => (rule.detector ?? detector) === detector && fits(this.#labels));
    return found?.rule.sensitivity ?? null;
  }
}

/** What was set by tenant, 0 for all; how easily a detector fires of a stream then: the tenant's own rules come first. */
export const sensitivityIn = (set: ReadonlyMap<number, Sensitivities>, tenantId: number, detector: string, stream: string): Sensitivity =>
  set.get(tenantId)?.of(detector, stream) ?? set.get(0)?.of(detector, stream) ?? 'normal';

/** What is wrong with a list of rules, as a sentence; null for nothing. `others`: names of detectors besides the built-in ones. */
export function sensitivityFault(value: Setting['value'], others: readonly string[] = []): string | null {
  const names = [...detectorLooks.map(({ name }) => name), ...others];
  if (!Array.isArray(value)) return 'The sensitivity is a list of rules.';
  if (value.length > MAX_RULES) return `There are at most ${String(MAX_RULES)} rules.`;
  for (const [index, rule] of value.entries()) {
    const fault = ruleFault(rule, names);
    if (fault !== null) return `Rule ${String(index + 1)}: ${fault}`;
  }
  return null;
}

const MEMBERS = ['detector', 'stream', 'sensitivity'];

/** `names`: the detectors that there are; null where a rule of one that is not there is none that fits, and no fault. */
function ruleFault(rule: unknown, names: readonly string[] | null): string | null {
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule))
    return 'it must be an object with "sensitivity", and maybe "detector" and "stream".';
  const { detector, stream, sensitivity, ...others } = rule as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) return `it has no ${JSON.stringify(other)}; it has ${MEMBERS.join(', ')}.`;
  if (!SENSITIVITIES.some((name) => name === sensitivity)) return `the sensitivity is one of ${SENSITIVITIES.join(', ')}.`;
  if (detector !== undefined && (names === null ? typeof detector !== 'string' : !names.some((name) => name === detector)))
    return `the detector is one of ${(names ?? []).join(', ')}.`;
  if (stream === undefined) return null;
  const found = typeof stream === 'string' ? selectorOf(stream) : 'it must be a string';
  return typeof found === 'string' ? `the stream is a selector such as {service="web"}: ${found}.` : null;
}

function labelsOf(stream: string): Labels {
  try {
    return parseStream(stream);
  } catch {
    return null;
  }
}

/** Whether labels fit a selector; what is wrong with it, where it is none. */
function selectorOf(text: string): ((labels: Labels) => boolean) | string {
  try {
    // a selector has no time
    const filter = parseFilter(text, { now: 0n });
    if (filter instanceof AnyFilter) return () => true;
    if (!(filter instanceof StreamFilter)) return 'this is another filter';
    // ten thousand streams are evaluated at once: no value may cost more than to compare it
    return filter.hasRegexp ? 'it takes no regexps; use in("a","b")' : (labels) => labels !== null && filter.matchesLabels(labels);
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) return error.message.replace(/\.$/, '');
    throw error;
  }
}
