import { from, type Section } from './limit.ts';

const segment = from('pipeline/processors/spans/span-segment.ts');
const open = from('pipeline/processors/spans/open-spans.ts');
const HOSTILE = 'test/pipeline/processors/spans/span-counts.test.ts';
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
    {
      what: 'Services, operations, minutes and bins that are counted one by one in a segment of a partition',
      of: 'a tenant',
      bound: [segment('HELD', 'bytes', 'ofTenant')],
      beyond: 'They are one operation, `(other)`.',
      others: 'nothing',
      test: HOSTILE,
    },
    {
      what: 'The same; beyond it of a tenant, up to a sum',
      of: 'all tenants',
      bound: [segment('HELD', 'bytes', 'most'), segment('HELD', 'bytes of a tenant', 'few'), segment('HELD', 'bytes in all', 'last')],
      beyond: 'As above.',
      others: 'They have as little that is new.',
      test: HOSTILE,
    },
    {
      what: 'Open spans of a partition, of which calls are found',
      of: 'a tenant',
      bound: [open('OPEN', 'bytes', 'ofTenant')],
      beyond: 'Further ones are not looked at, and counted as that.',
      others: 'nothing',
      test: HOSTILE,
    },
    {
      what: 'The same; beyond it of a tenant, up to a sum',
      of: 'all tenants',
      bound: [open('OPEN', 'bytes', 'most'), open('OPEN', 'bytes of a tenant', 'few'), open('OPEN', 'bytes in all', 'last')],
      beyond: 'As above.',
      others: 'They have as few.',
      test: HOSTILE,
    },
  ],
};
