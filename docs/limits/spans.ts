import { from, type Section } from './limit.ts';

const draft = from('pipeline/traces/span-draft.ts');

/** From a body to its spans; what is not said here is as for entries. */
export const SPANS: Section = {
  title: 'Spans',
  rows: [
    {
      what: 'Attributes, of a span, its resource, its scope, an event or a link, and depth of a value',
      of: 'an entry',
      bound: [
        from('pipeline/traces/attribute-list.ts')('MAX_ATTRIBUTES', 'attributes'),
        from('pipeline/traces/value-text.ts')('MAX_DEPTH', 'levels'),
      ],
      beyond: 'The span is rejected.',
      others: 'nothing',
      attack: [
        'spans-depth',
        'spans-attributes',
        'spans-attributes-allowed',
        'spans-resource-attributes',
        'spans-json-deep',
        'spans-json-attributes',
        'zipkin-tags',
      ],
      test: 'test/pipeline/normalizers/otlp-traces.test.ts',
    },
    {
      what: 'Words: names of spans, services, scopes, and keys of attributes',
      of: 'an entry',
      bound: [from('pipeline/traces/span-group.ts')('MAX_WORD_BYTES', 'bytes')],
      beyond: 'The span is rejected. A longer resource lies in a column of its own.',
      others: 'They read a dictionary of up to 8,192 of them.',
      attack: ['spans-long-names', 'spans-long-resources', 'spans-own-names', 'spans-own-services'],
      test: 'test/pipeline/normalizers/otlp-traces.test.ts',
    },
    {
      what: 'Events and links',
      of: 'an entry',
      bound: [draft('MAX_EVENTS', 'events'), draft('MAX_LINKS', 'links')],
      beyond: 'Further ones are dropped, and counted as such.',
      others: 'nothing',
      attack: ['spans-events', 'spans-links', 'zipkin-annotations'],
      test: 'test/pipeline/normalizers/otlp-traces.test.ts',
    },
    {
      what: 'Span as it is stored',
      of: 'an entry',
      bound: [from('pipeline/traces/spans-writer.ts')('MAX_SPAN_BYTES', 'bytes')],
      beyond: 'The span is rejected.',
      others: 'nothing',
      attack: ['spans-attributes-allowed'],
      test: 'test/pipeline/normalizers/otlp-traces.test.ts',
    },
  ],
};
