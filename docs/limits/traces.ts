import { from, type Section } from './limit.ts';

const parameters = from('api/traces/parameters.ts');
const read = from('api/traces/read-traces.ts');
const map = from('api/traces/service-map.ts');
const metrics = from('api/traces/jaeger/metrics.ts');
const E2E = 'test/e2e/store/traces-read.e2e.test.ts';

/** What an answer on traces has, and what it holds. */
export const TRACES: Section = {
  title: 'Reading traces',
  rows: [
    {
      what: 'Traces of an answer; tags of a request, and characters of one',
      of: 'a request',
      bound: [parameters('MAX_TRACES', 'traces'), parameters('MAX_TAGS', 'tags'), parameters('MAX_TEXT', 'characters')],
      beyond: '400',
      others: 'nothing',
      attack: ['traces-all', 'traces-twenty-tags', 'jaeger-search-all', 'jaeger-trace-ids'],
      test: 'test/api/traces/parameters.test.ts',
    },
    {
      what: 'Traces that are held to be sorted',
      of: 'a request',
      bound: [read('MAX_HELD_ROWS', 'spans'), read('MAX_HELD_BYTES', 'bytes')],
      beyond: 'They are sent as they are read, by service and time.',
      others: 'nothing',
      attack: ['trace-whole', 'trace-in-circles', 'trace-of-copies', 'jaeger-trace-whole', 'jaeger-trace-in-circles', 'jaeger-v3-whole'],
      test: E2E,
    },
    {
      what: 'Rows of traces that are listed, and counted without copies',
      of: 'a request',
      bound: [from('api/traces/list-traces.ts')('MAX_COUNTED_ROWS', 'rows')],
      beyond: 'They are counted in parts; of a trace with more, copies count.',
      others: 'nothing',
      attack: ['traces-all', 'spans-of-one-trace', 'spans-same-id'],
      test: E2E,
    },
    {
      what: 'Spans whose calls are not counted yet that are looked at, and edges of the service map',
      of: 'a request',
      bound: [map('MAX_JOINED_ROWS', 'rows at once'), map('MAX_JOINS', 'times'), map('MAX_EDGES', 'edges')],
      beyond: 'Whole traces are left out, and the answer says how many; edges with fewer calls are left out.',
      others: 'nothing',
      attack: ['trace-service-map', 'jaeger-dependencies', 'spans-in-circles'],
      test: E2E,
    },
    {
      what: 'Minutes of services or operations that span metrics are made of; points of a series and of an answer; services',
      of: 'a request',
      bound: [
        from('api/traces/operation-minutes.ts')('MAX_MINUTES', 'minutes'),
        metrics('MAX_POINTS', 'points of one'),
        metrics('MAX_ALL_POINTS', 'points'),
        metrics('MAX_SERVICES', 'services'),
      ],
      beyond: '400',
      others: 'nothing',
      test: 'test/api/traces/jaeger/metrics.test.ts',
    },
    {
      what: 'Services, and operations of a service',
      of: 'a request',
      bound: [from('api/traces/services.ts')('MAX_NAMES', 'names')],
      beyond: 'The list ends, and says so.',
      others: 'nothing',
      attack: ['trace-services', 'trace-operations'],
      test: E2E,
    },
    {
      what: 'Rows of spans that pipes of LogsQL count without copies',
      of: 'a query',
      bound: [from('logsql/sql/spans-table.ts')('MOST_COMPARED', 'rows')],
      beyond: 'Of more rows that tenant, window and services leave copies count.',
      others: 'nothing',
      test: 'test/logsql/planner/spans-sql.test.ts',
    },
  ],
};
