/** `label_replace`, `label_join`: other labels, the same samples. */
import { compileRegexp, RegexpError } from '../../logsql/values/regexp.ts';
import { PromqlExecutionError } from '../base/errors.ts';
import { MAX_LABEL_LENGTH } from '../base/limits.ts';
import type { StepSeries } from '../base/series.ts';
import { METRIC_NAME, type Labels } from '../values/labels.ts';
import { stringOf, type CallContext, type VectorFunction } from './base.ts';

/** Sets a label of each series, where there is a value for it. */
function relabel(series: StepSeries[], context: CallContext, target: string, valueOf: (labels: Labels) => string | null): StepSeries[] {
  for (const one of series) {
    const value = valueOf(one.labels);
    if (value === null) continue;
    one.labels = one.labels.with(target, value);
    if (target === METRIC_NAME) one.dropName = false;
  }
  return context.merge(series);
}

/** Any string of characters but the empty one is a label's name. */
function checkName(name: string, what: string): void {
  if (name === '' || !name.isWellFormed()) throw new PromqlExecutionError(`invalid ${what}: ${name}`);
}

/** Calls in each other could double a value again and again. */
function checkLength(most: number): void {
  if (most > MAX_LABEL_LENGTH) throw new PromqlExecutionError(`a label value of more than ${String(MAX_LABEL_LENGTH)} characters`);
}

export const labelReplace: VectorFunction = {
  kind: 'vector',
  name: 'label_replace',
  args: ['vector', 'string', 'string', 'string', 'string'],
  variadic: 0,
  returns: 'vector',
  help: 'a label made of another one by a regexp: target, replacement, source, regexp',
  apply: (series, context) => {
    const [target = '', replacement = '', source = '', regexp = ''] = context.call.args.slice(1).map(stringOf);
    const compiled = compile(regexp);
    checkName(target, 'destination label name in label_replace()');
    return relabel(series, context, target, (labels) => {
      const value = labels.get(source);
      if (!compiled.test(value)) return null;
      // each part may stand for the whole value
      checkLength(replacement.length + value.length * (replacement.split('$').length - 1));
      return compiled.replace(value, replacement, 1);
    });
  },
};

function compile(regexp: string): ReturnType<typeof compileRegexp> {
  try {
    return compileRegexp(regexp, 'label');
  } catch (error) {
    if (!(error instanceof RegexpError)) throw error;
    throw new PromqlExecutionError(`invalid regular expression in label_replace(): ${regexp}`, { cause: error });
  }
}

export const labelJoin: VectorFunction = {
  kind: 'vector',
  name: 'label_join',
  args: ['vector', 'string', 'string', 'string'],
  variadic: -1,
  returns: 'vector',
  help: 'a label made of others with a separator: target, separator, sources',
  apply: (series, context) => {
    const [target = '', separator = '', ...sources] = context.call.args.slice(1).map(stringOf);
    for (const source of sources) checkName(source, 'source label name in label_join()');
    checkName(target, 'destination label name in label_join()');
    return relabel(series, context, target, (labels) => {
      const values = sources.map((source) => labels.get(source));
      checkLength(values.reduce((sum, value) => sum + value.length, separator.length * Math.max(0, values.length - 1)));
      return values.join(separator);
    });
  },
};
