import { from, type Section } from './limit.ts';

const limits = from('promql/base/limits.ts');
const TEST = 'test/promql/hostile.test.ts';

/** What an expression of PromQL is, and what its evaluation may hold. */
export const PROMQL: Section = {
  title: 'PromQL',
  rows: [
    {
      what: 'Series, labels or values of an answer; selectors of a request',
      of: 'a request',
      bound: [from('api/prometheus/operations.ts')('MAX_LISTED', ''), from('api/prometheus/endpoints.ts')('MAX_SELECTORS', 'selectors')],
      beyond: 'The list is cut, which a warning says; 400.',
      others: 'nothing',
      test: 'test/e2e/instance/prometheus.e2e.test.ts',
    },
    {
      what: 'Characters; parentheses, brackets and braces within each other; operators and modifiers',
      of: 'a query',
      bound: [limits('MAX_CHARACTERS', 'characters'), limits('MAX_NESTING', 'within each other'), limits('MAX_OPERATORS', 'operators')],
      beyond: 'The expression is refused, with the place.',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Points of a range query for each series',
      of: 'a query',
      bound: [limits('MAX_POINTS', '')],
      beyond: 'The query is refused.',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Samples that are held at once: those of the series that is read, and results that are not used up',
      of: 'a query',
      bound: [limits('MAX_SAMPLES', '')],
      beyond: "Prometheus' error of too many samples.",
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Characters of a label that label_replace or label_join makes',
      of: 'a query',
      bound: [limits('MAX_LABEL_LENGTH', '')],
      beyond: 'The evaluation ends with an error.',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Exemplars of an answer, and selectors that they are looked for by',
      of: 'a request',
      bound: [from('api/prometheus/exemplars.ts')('MAX_EXEMPLARS', ''), from('api/prometheus/exemplars.ts')('MAX_SELECTORS', 'selectors')],
      beyond: 'The newest are given; further selectors are not looked at.',
      others: 'nothing',
      test: 'test/e2e/detection/derived-series.e2e.test.ts',
    },
    {
      what: 'Instructions of its regexps together',
      of: 'a query',
      bound: [from('logsql/values/regexp.ts')('MAX_PROGRAM_SIZE', '')],
      beyond: 'The expression is refused, with the place.',
      others: 'nothing',
      test: TEST,
    },
  ],
};
