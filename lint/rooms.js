import path from 'node:path';

/**
 * Which room may import which (docs/architecture.md). A line of code always knows its room: the longest prefix of its path.
 * A room imports only rooms that stand above it in this list (test/docs/rooms.test.ts), so there are no circles. `api/*` are all rooms of `api`.
 */
export const ROOMS = {
  'pipeline/core': [],
  'pipeline/compression': ['pipeline/core'],
  'pipeline/wire': ['pipeline/core'],
  'pipeline/wasm': ['pipeline/core', 'pipeline/compression'],
  'pipeline/bus/records': ['pipeline/core'],
  'pipeline/bus/connection': ['pipeline/core', 'pipeline/compression', 'pipeline/wasm', 'pipeline/bus/records'],
  'pipeline/bus/reading': ['pipeline/bus/records', 'pipeline/bus/connection'],
  'pipeline/bus/producer': ['pipeline/core', 'pipeline/wasm', 'pipeline/bus/records', 'pipeline/bus/connection'],
  'pipeline/bus/consumer': ['pipeline/core', 'pipeline/bus/records', 'pipeline/bus/connection', 'pipeline/bus/reading'],
  'pipeline/bus/state': [
    'pipeline/core',
    'pipeline/bus/connection',
    'pipeline/bus/reading',
    'pipeline/bus/producer',
    'pipeline/bus/consumer',
  ],
  'pipeline/bus/dead-letters': [
    'pipeline/core',
    'pipeline/bus/records',
    'pipeline/bus/connection',
    'pipeline/bus/reading',
    'pipeline/bus/producer',
  ],
  'pipeline/bus/measured': [
    'pipeline/core',
    'pipeline/bus/records',
    'pipeline/bus/connection',
    'pipeline/bus/reading',
    'pipeline/bus/state',
  ],
  'pipeline/rows': ['pipeline/core', 'pipeline/wasm', 'pipeline/bus/records'],
  'pipeline/clusterer': ['pipeline/core', 'pipeline/wire'],
  'pipeline/intake': ['pipeline/core', 'pipeline/bus/*', 'pipeline/rows'],
  'pipeline/logs': [
    'pipeline/core',
    'pipeline/intake',
    'pipeline/wire',
    'pipeline/wasm',
    'pipeline/bus/*',
    'pipeline/rows',
    'pipeline/clusterer',
  ],
  'pipeline/traces': ['pipeline/core', 'pipeline/intake', 'pipeline/wire', 'pipeline/bus/*', 'pipeline/rows'],
  'pipeline/samples': ['pipeline/core', 'pipeline/intake', 'pipeline/wire', 'pipeline/bus/*', 'pipeline/rows'],
  'pipeline/replay': ['pipeline/core', 'pipeline/intake', 'pipeline/bus/*', 'pipeline/rows'],
  'pipeline/counters': ['pipeline/core', 'pipeline/bus/*', 'pipeline/rows'],
  'pipeline/store': ['pipeline/core'],
  'pipeline/normalizers': [
    'pipeline/core',
    'pipeline/compression',
    'pipeline/wire',
    'pipeline/intake',
    'pipeline/rows',
    'pipeline/logs',
    'pipeline/traces',
    'pipeline/samples',
    'pipeline/replay',
  ],
  'pipeline/detectors': ['pipeline/core'],
  'logsql/values': ['pipeline/core', 'pipeline/clusterer'],
  'logsql/base': ['pipeline/core', 'logsql/values'],
  'logsql/sql': ['pipeline/core', 'logsql/values', 'logsql/base'],
  'logsql/filters': ['pipeline/core', 'pipeline/clusterer', 'logsql/values', 'logsql/base', 'logsql/sql'],
  'logsql/stats': ['pipeline/core', 'logsql/values', 'logsql/base', 'logsql/sql'],
  'logsql/pipes': ['pipeline/core', 'pipeline/clusterer', 'logsql/values', 'logsql/base', 'logsql/sql', 'logsql/filters', 'logsql/stats'],
  'logsql/parser': ['logsql/values', 'logsql/base', 'logsql/filters', 'logsql/pipes'],
  'logsql/evaluation': ['pipeline/core', 'logsql/base', 'logsql/filters', 'logsql/pipes'],
  'logsql/planner': ['pipeline/core', 'logsql/base', 'logsql/sql', 'logsql/filters', 'logsql/pipes', 'logsql/evaluation'],
  'promql/values': ['logsql/values'],
  'promql/histograms': ['promql/values'],
  'promql/base': ['promql/values', 'promql/histograms'],
  'promql/functions': ['logsql/values', 'promql/values', 'promql/histograms', 'promql/base'],
  'promql/aggregations': ['promql/values', 'promql/histograms', 'promql/base'],
  'promql/parser': ['logsql/values', 'promql/values', 'promql/base', 'promql/functions', 'promql/aggregations'],
  'promql/evaluation': ['promql/values', 'promql/histograms', 'promql/base', 'promql/functions', 'promql/aggregations', 'promql/parser'],
  'pipeline/processors/base': ['pipeline/core', 'pipeline/bus/*', 'pipeline/rows', 'pipeline/logs', 'pipeline/counters'],
  'pipeline/processors/settings': ['pipeline/core', 'pipeline/processors/base'],
  'pipeline/alerting/book': ['pipeline/core', 'pipeline/bus/*', 'pipeline/rows', 'pipeline/detectors', 'pipeline/processors/base'],
  'pipeline/alerting/exchange': ['pipeline/core', 'pipeline/detectors', 'pipeline/processors/base', 'pipeline/alerting/book'],
  'pipeline/processors/merge': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/counters',
    'pipeline/processors/base',
    'pipeline/processors/settings',
  ],
  'pipeline/processors/host': ['pipeline/core', 'pipeline/bus/*', 'pipeline/processors/base'],
  'pipeline/processors/volume': ['pipeline/core', 'pipeline/bus/*', 'pipeline/rows', 'pipeline/counters', 'pipeline/processors/base'],
  'pipeline/processors/spans': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/rows',
    'pipeline/traces',
    'pipeline/counters',
    'pipeline/processors/base',
  ],
  'pipeline/processors/rates': ['pipeline/core', 'pipeline/counters', 'pipeline/processors/base'],
  'pipeline/alerting/settings': [
    'pipeline/core',
    'pipeline/detectors',
    'logsql/base',
    'logsql/filters',
    'logsql/parser',
    'pipeline/alerting/book',
  ],
  'pipeline/alerting/patterns': ['pipeline/core', 'pipeline/clusterer', 'pipeline/detectors', 'pipeline/alerting/book'],
  'pipeline/processors/patterns': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/clusterer',
    'pipeline/logs',
    'pipeline/counters',
    'pipeline/processors/base',
    'pipeline/alerting/book',
    'pipeline/alerting/exchange',
    'pipeline/processors/merge',
    'pipeline/processors/volume',
    'pipeline/alerting/settings',
    'pipeline/alerting/patterns',
  ],
  'pipeline/processors/rules': [
    'pipeline/core',
    'pipeline/rows',
    'pipeline/logs',
    'pipeline/detectors',
    'logsql/*',
    'pipeline/processors/base',
    'pipeline/alerting/book',
  ],
  'pipeline/alerting/streams': [
    'pipeline/core',
    'pipeline/clusterer',
    'pipeline/detectors',
    'pipeline/processors/base',
    'pipeline/alerting/book',
    'pipeline/alerting/exchange',
    'pipeline/processors/merge',
    'pipeline/processors/rates',
    'pipeline/alerting/settings',
    'pipeline/processors/patterns',
  ],
  'pipeline/alerting/rules': [
    'pipeline/core',
    'pipeline/detectors',
    'logsql/*',
    'pipeline/processors/base',
    'pipeline/alerting/book',
    'pipeline/alerting/exchange',
    'pipeline/processors/merge',
    'pipeline/alerting/settings',
    'pipeline/processors/rules',
  ],
  'pipeline/alerting/custom': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/detectors',
    'pipeline/processors/base',
    'pipeline/alerting/book',
    'pipeline/alerting/exchange',
    'pipeline/processors/merge',
    'pipeline/processors/rates',
    'pipeline/alerting/settings',
  ],
  'pipeline/alerting/spans': [
    'pipeline/core',
    'pipeline/detectors',
    'pipeline/processors/base',
    'pipeline/alerting/book',
    'pipeline/alerting/streams',
    'pipeline/processors/merge',
    'pipeline/processors/spans',
    'pipeline/alerting/settings',
  ],
  'pipeline/alerting/announcements': ['pipeline/core', 'pipeline/bus/*', 'pipeline/alerting/book'],
  'pipeline/processors': ['pipeline/core', 'pipeline/bus/*', 'pipeline/counters', 'pipeline/processors/*', 'pipeline/alerting/*'],
  sinks: [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/rows',
    'pipeline/logs',
    'pipeline/traces',
    'pipeline/samples',
    'pipeline/replay',
    'pipeline/counters',
    'pipeline/alerting/book',
    'pipeline/store',
  ],
  'api/tenants': [],
  'api/auth': ['pipeline/core', 'api/tenants'],
  'api/control': ['pipeline/core', 'pipeline/alerting/book', 'pipeline/alerting/announcements', 'api/tenants', 'api/auth'],
  'api/limits': ['pipeline/core', 'pipeline/bus/*', 'api/tenants'],
  'api/http': ['pipeline/core', 'pipeline/compression', 'pipeline/wire', 'api/tenants', 'api/auth'],
  'api/app': ['pipeline/core', 'api/tenants', 'api/auth', 'api/limits', 'api/http'],
  'api/ingest': ['pipeline/core', 'pipeline/intake', 'pipeline/normalizers', 'api/tenants', 'api/auth', 'api/limits', 'api/http'],
  'api/admin': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/intake',
    'pipeline/store',
    'logsql/values',
    'api/tenants',
    'api/control',
    'api/limits',
    'api/http',
    'api/ingest',
  ],
  'api/query': ['pipeline/core', 'pipeline/bus/*', 'pipeline/alerting/book', 'pipeline/store', 'logsql/*', 'api/limits', 'api/http'],
  'api/query/patterns': ['pipeline/core', 'pipeline/clusterer', 'pipeline/store', 'logsql/values', 'logsql/sql', 'api/query'],
  'api/search': ['pipeline/core', 'pipeline/alerting/book', 'pipeline/store', 'logsql/*', 'api/http', 'api/query', 'api/query/patterns'],
  'api/select': ['pipeline/core', 'logsql/*', 'api/http', 'api/query'],
  'api/traces': ['pipeline/core', 'pipeline/store', 'logsql/values', 'api/http', 'api/query', 'api/search'],
  'api/traces/jaeger': ['pipeline/core', 'api/http', 'api/query', 'api/traces'],
  'api/replay': [
    'pipeline/core',
    'pipeline/store',
    'logsql/*',
    'api/tenants',
    'api/http',
    'api/query',
    'api/search',
    'api/select',
    'api/traces',
  ],
  'api/metrics': ['pipeline/core', 'pipeline/store', 'api/http', 'api/query'],
  'api/prometheus': ['pipeline/core', 'pipeline/samples', 'promql/*', 'api/http', 'api/query', 'api/select', 'api/metrics'],
  'api/alerts': [
    'pipeline/core',
    'pipeline/alerting/book',
    'pipeline/alerting/announcements',
    'pipeline/store',
    'pipeline/clusterer',
    'logsql/base',
    'logsql/parser',
    'logsql/pipes',
    'api/control',
    'api/http',
    'api/admin',
    'api/query',
  ],
  'api/workers': ['pipeline/core'],
  'api/live/place': ['pipeline/core', 'logsql/base'],
  'api/live/match': ['pipeline/core', 'pipeline/rows', 'pipeline/logs', 'logsql/*', 'api/query', 'api/select'],
  'api/live/worker': ['pipeline/core', 'pipeline/bus/*', 'pipeline/logs', 'api/query', 'api/workers', 'api/live/place', 'api/live/match'],
  'api/live': [
    'pipeline/core',
    'logsql/*',
    'api/query',
    'api/select',
    'api/workers',
    'api/live/place',
    'api/live/match',
    'api/live/worker',
  ],
  'api/live/sockets': ['pipeline/core', 'logsql/parser', 'api/tenants', 'api/auth', 'api/limits', 'api/http', 'api/workers', 'api/live'],
  'api/live/streams': ['pipeline/core', 'logsql/values', 'logsql/parser', 'api/limits', 'api/http', 'api/select', 'api/live'],
  'api/live/alerts': [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/alerting/book',
    'pipeline/alerting/announcements',
    'api/limits',
    'api/query',
    'api/search',
    'api/live/place',
    'api/live',
    'api/live/sockets',
  ],
  'api/engine': [
    'pipeline/core',
    'pipeline/store',
    'logsql/base',
    'logsql/sql',
    'api/query',
    'api/query/patterns',
    'api/search',
    'api/select',
    'api/traces',
    'api/traces/jaeger',
    'api/replay',
    'api/metrics',
    'api/prometheus',
    'api/live',
    'api/live/alerts',
  ],
  'api/engine/workers': ['pipeline/core', 'pipeline/store', 'logsql/base', 'api/query', 'api/workers', 'api/engine'],
  web: [],
  cli: ['pipeline/core', 'pipeline/wire', 'pipeline/detectors', 'logsql/values'],
  compose: ['pipeline/core'],
  main: [
    'pipeline/core',
    'pipeline/bus/*',
    'pipeline/intake',
    'pipeline/logs',
    'pipeline/traces',
    'pipeline/samples',
    'pipeline/replay',
    'pipeline/counters',
    'pipeline/alerting/*',
    'pipeline/store',
    'pipeline/normalizers',
    'pipeline/processors',
    'pipeline/processors/*',
    'logsql/values',
    'sinks',
    'api/*',
    'compose',
  ],
};

/** `bus` alone imports kafkajs, `store` and `sinks` alone @clickhouse/client, `promql/parser` alone the grammar of PromQL. */
const OWNED_PACKAGES = {
  kafkajs: ['pipeline/bus/*'],
  'kafkajs-snappy': ['pipeline/bus/connection'],
  '@clickhouse/client': ['pipeline/store', 'sinks'],
  '@prometheus-io/lezer-promql': ['promql/parser'],
};

const LONGEST_FIRST = Object.keys(ROOMS).sort((a, b) => b.length - a.length);

/** The room of a file, by its path from the root of the project; undefined where it is in none. */
export const roomOf = (file) => LONGEST_FIRST.find((room) => file.startsWith(`${room}/`));

/** The rooms that a room may import, beside itself. */
export const importsOf = (room) =>
  ROOMS[room].flatMap((name) => (name.endsWith('/*') ? LONGEST_FIRST.filter((one) => one.startsWith(name.slice(0, -1))) : [name]));

const fromRoot = (file) =>
  path
    .relative(path.resolve(import.meta.dirname, '..'), file)
    .split(path.sep)
    .join('/');

/** The rule of the linter. */
export const rooms = {
  create(context) {
    const room = roomOf(fromRoot(context.filename));
    if (room === undefined)
      return { Program: (node) => context.report({ node, message: 'This file is in no room (lint/rooms.js, docs/architecture.md).' }) };
    const allowed = importsOf(room);
    const check = (node) => {
      const source = node.source?.value;
      if (typeof source !== 'string') return;
      if (source.startsWith('.')) {
        const target = roomOf(fromRoot(path.resolve(path.dirname(context.filename), source)));
        if (target !== room && !allowed.includes(target)) context.report({ node, message: `${room} may not import ${target ?? source}.` });
      } else if (
        OWNED_PACKAGES[source] !== undefined &&
        !OWNED_PACKAGES[source].some((owner) => owner === room || (owner.endsWith('/*') && room.startsWith(owner.slice(0, -1))))
      ) {
        context.report({ node, message: `Only ${OWNED_PACKAGES[source].join(' and ')} may import ${source}.` });
      }
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};
