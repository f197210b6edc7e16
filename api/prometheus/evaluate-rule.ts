import { HttpError, httpErrorOf } from '../../pipeline/core/errors.ts';
import {
  MOST_ALERTS,
  MOST_RECORDED,
  MOST_RESULT_BYTES,
  seriesText,
  type EvaluatedSeries,
} from '../../pipeline/alerting/metrics/evaluated.ts';
import { labelsText, type Labels as Pairs } from '../../pipeline/samples/definition.ts';
import { seriesLabels } from '../../pipeline/samples/derived-samples.ts';
import { instantQuery } from '../../promql/evaluation/query.ts';
import type { Value, VectorSample } from '../../promql/evaluation/result.ts';
import { expandTemplate, readTemplate, type Template, type TemplateData } from '../../promql/templates/expand.ts';
import { Labels, METRIC_NAME } from '../../promql/values/labels.ts';
import type { Deps, Request } from '../query/deps.ts';
import { exemplarsOfResult, traceExemplars, type FoundExemplars } from './alert-exemplars.ts';
import { judged } from './judged.ts';
import { optionsOf } from './operations.ts';

/** Characters of the value of a label and of an annotation as they are expanded. */
const MAX_LABEL = 1000;
const MAX_ANNOTATION = 2000;

type Texts = Readonly<Record<string, string>>;

/** A rule as it is evaluated at a time, in milliseconds. */
export type RuleEvaluation = {
  readonly kind: 'alert' | 'record' | 'watch';
  readonly name: string;
  readonly expr: string;
  readonly time: number;
  readonly labels: Texts;
  readonly annotations: Texts;
};

const failed = (sentence: string): HttpError => new HttpError(422, 'execution', sentence);

/** What a rule gives at a time, as JSON that `readEvaluated` reads. Throws HttpError where it cannot be evaluated, in Prometheus' words. */
export async function evaluateRule(rule: RuleEvaluation, request: Request, deps: Deps): Promise<string> {
  const options = optionsOf(null, request, deps);
  const { value } = await judged(() => instantQuery(rule.expr, rule.time, options));
  const samples = samplesOf(value);
  const [most, what] = rule.kind === 'alert' ? [MOST_ALERTS, 'alerts'] : [MOST_RECORDED, 'series'];
  if (samples.length > most) throw failed(`exceeded limit of ${String(most)} with ${String(samples.length)} ${what}`);
  const labelsOf = rule.kind === 'alert' ? alerting(rule) : plain(rule);
  const series: Plain[] = [];
  let bytes = 0;
  for (const sample of samples) {
    options.checkpoint?.();
    const one = labelsOf(sample);
    bytes += labelsText(one.labels).length + labelsText(one.annotations).length;
    if (bytes > MOST_RESULT_BYTES) throw failed(`the labels and annotations of a result have at most ${String(MOST_RESULT_BYTES)} bytes`);
    series.push(one);
  }
  const sets = new Set(series.map(({ labels }) => labelsText(labels)));
  if (sets.size < series.length) throw failed(`vector contains metrics with the same labelset after applying ${rule.kind === 'alert' ? 'alert' : 'rule'} labels`); // prettier-ignore
  const text = seriesText(series);
  if (Buffer.byteLength(text) > MOST_RESULT_BYTES) throw failed(`a result has at most ${String(MOST_RESULT_BYTES)} bytes`);
  return rule.kind === 'alert' && series.length > 0 ? withExemplars(text, series, samples, await exemplarsFor(rule, request, deps)) : text;
}

/** What leads to traces is a help: where it cannot be read the alert fires without. */
async function exemplarsFor({ expr, time }: RuleEvaluation, request: Request, deps: Deps): Promise<FoundExemplars> {
  try {
    return await traceExemplars(expr, time, request, deps);
  } catch (error) {
    if (request.signal.aborted || httpErrorOf(error) === null) throw error;
    return [];
  }
}

/** The same series with their exemplars, where there is room for them. `samples`: what each of the series was made of. */
function withExemplars(text: string, series: readonly Plain[], samples: readonly VectorSample[], found: FoundExemplars): string {
  if (found.length === 0) return text;
  const shown = seriesText(series.map((one, at) => ({ ...one, exemplars: exemplarsOfResult(found, samples[at]?.labels.pairs() ?? []) })));
  return Buffer.byteLength(shown) > MOST_RESULT_BYTES ? text : shown;
}

function samplesOf(value: Value): readonly VectorSample[] {
  if (value.type === 'vector') return value.samples;
  if (value.type === 'scalar') return [{ labels: Labels.NONE, time: value.time, value: value.value }];
  throw failed('rule result is not a vector or scalar');
}

type Plain = Omit<EvaluatedSeries, 'exemplars'>;
type Read = (sample: VectorSample) => Plain;

/** What is recorded, by its name, or watched, by the names that it has. */
function plain({ kind, name, labels }: RuleEvaluation): Read {
  const own = [...(kind === 'record' ? ([[METRIC_NAME, name]] as const) : []), ...Object.entries(labels)];
  return (sample) => {
    if (typeof sample.value !== 'number') throw failed(`the result has a native histogram, which is not ${kind}ed`);
    return { labels: seriesLabels([...sample.labels.pairs(), ...own]), value: sample.value, annotations: [] };
  };
}

const templatesOf = (texts: Texts): readonly (readonly [string, Template])[] =>
  Object.entries(texts).map(([name, text]) => [name, readTemplate(text)] as const);

const expanded = (templates: readonly (readonly [string, Template])[], data: TemplateData, most: number): Pairs =>
  templates.map(([name, template]) => [name, wellFormed(expandTemplate(template, data).slice(0, most))] as const);

/** A cut may have halved a character. */
const wellFormed = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

function alerting({ name, labels, annotations }: RuleEvaluation): Read {
  const [ofLabels, ofAnnotations] = [templatesOf(labels), templatesOf(annotations)];
  return (sample) => {
    // as in Prometheus, a histogram has no number
    const value = typeof sample.value === 'number' ? sample.value : 0;
    const pairs = sample.labels.pairs();
    const data = { labels: new Map(pairs), value };
    const others = pairs.filter(([label]) => label !== METRIC_NAME);
    return {
      labels: seriesLabels([...others, ...expanded(ofLabels, data, MAX_LABEL), ['alertname', name]]),
      value,
      annotations: expanded(ofAnnotations, data, MAX_ANNOTATION),
    };
  };
}
