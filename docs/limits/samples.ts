import { from, type Section } from './limit.ts';

const labels = from('pipeline/samples/read-labels.ts');
const writer = from('pipeline/samples/samples-writer.ts');
const TEST = 'test/pipeline/samples/samples-writer.test.ts';
const FORMATS = 'test/contract/normalizers.test.ts';

/** From a body to its samples; what is not said here is as for entries. */
export const SAMPLES: Section = {
  title: 'Samples',
  rows: [
    {
      what: 'Labels of a series, and bytes of a name, a value and all of it',
      of: 'an entry',
      bound: [
        labels('MAX_LABELS', 'labels'),
        labels('MAX_NAME_BYTES', 'bytes'),
        labels('MAX_VALUE_BYTES', 'bytes'),
        labels('MAX_SERIES_BYTES', 'bytes'),
      ],
      beyond: 'The samples of the series are rejected.',
      others: 'nothing',
      test: FORMATS,
    },
    {
      what: 'Samples, histograms, exemplars and metadata',
      of: 'a request',
      bound: [writer('MAX_SAMPLES', '')],
      beyond: '413',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Definitions of series and payloads, as they lie in records',
      of: 'a request',
      bound: [writer('MAX_REQUEST_BYTES', 'bytes')],
      beyond: 'Further samples are rejected.',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Histogram, labels of an exemplar, metadata of a metric',
      of: 'an entry',
      bound: [writer('MAX_PAYLOAD_BYTES', 'bytes')],
      beyond: 'It is rejected.',
      others: 'nothing',
      test: FORMATS,
    },
    {
      what: 'Depth of an attribute of OTLP, buckets of its histograms',
      of: 'an entry',
      bound: [
        from('pipeline/normalizers/otlp/any-text.ts')('MAX_DEPTH', 'levels'),
        from('pipeline/normalizers/otlp/exponential.ts')('MAX_BUCKETS', 'buckets'),
      ],
      beyond: 'The data point is rejected.',
      others: 'nothing',
      test: FORMATS,
    },
    {
      what: 'Active series of a UTC day',
      of: 'a tenant',
      bound: [],
      by: 'the plan',
      beyond: 'New ones are rejected, known ones go on.',
      others: 'nothing',
      test: TEST,
    },
    {
      what: 'Series that are known by their bytes, in each of two generations',
      of: 'a process',
      bound: [from('pipeline/samples/known-series.ts')('MAX_BYTES', 'bytes')],
      beyond: 'Those used longest ago are read again.',
      others: 'Theirs are read again too, some microseconds each.',
      test: TEST,
    },
    {
      what: 'Compressed definitions that records share',
      of: 'a process',
      bound: [from('pipeline/samples/definition-pages.ts')('MAX_BYTES', 'bytes')],
      beyond: 'The oldest are made again.',
      others: 'Theirs may be made again too.',
      test: 'test/pipeline/samples/definition-pages.test.ts',
    },
    {
      what: 'Definitions of a record before they are compressed',
      of: 'a request',
      bound: [
        from('pipeline/samples/sample-columns.ts')('MAX_CONTENT_BYTES', 'bytes'),
        from('pipeline/samples/sample-chunk.ts')('MAX_NATIVE_BYTES', 'of each, reckoned with'),
      ],
      beyond: 'Another record is begun.',
      others: 'nothing',
      test: 'test/pipeline/samples/definition-pages.test.ts',
    },
    {
      what: 'Frames of definitions that a sink knows, in each of two generations',
      of: 'a process',
      bound: [from('sinks/series-rows.ts')('MAX_PAGES', 'frames')],
      beyond: 'Those used longest ago are read again.',
      others: 'Theirs are read again too.',
      test: 'test/sinks/samples.test.ts',
    },
    {
      what: 'Labels whose growth is watched, and tenants and days of them',
      of: 'a process',
      bound: [
        from('pipeline/samples/label-growth.ts')('MAX_WATCHED', 'labels'),
        from('pipeline/samples/active-series.ts')('MAX_GROWTHS', 'tenants and days'),
      ],
      beyond: 'Others are not named.',
      others: 'nothing',
      test: TEST,
    },
  ],
};
