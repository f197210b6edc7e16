import js from '@eslint/js';
import path from 'node:path';
import tseslint from 'typescript-eslint';
import { words } from './eslint.words.js';

/**
 * Which room may import which (docs/architecture.md). A line of code always knows its room: the longest prefix of its path.
 * `bus` alone imports kafkajs, `store` alone @clickhouse/client.
 */
const ROOMS = {
  'pipeline/core': [],
  'pipeline/compression': ['pipeline/core'],
  'pipeline/wire': ['pipeline/core'],
  'pipeline/wasm': ['pipeline/core', 'pipeline/compression'],
  'pipeline/bus': ['pipeline/core', 'pipeline/compression', 'pipeline/wasm'],
  'pipeline/logs': ['pipeline/core', 'pipeline/wire', 'pipeline/wasm', 'pipeline/bus', 'pipeline/clusterer'],
  'pipeline/counters': ['pipeline/core', 'pipeline/bus', 'pipeline/logs'],
  'pipeline/alerts': ['pipeline/core', 'pipeline/bus', 'pipeline/counters'],
  'pipeline/notify': ['pipeline/core', 'pipeline/alerts'],
  'pipeline/store': ['pipeline/core'],
  'pipeline/normalizers': ['pipeline/core', 'pipeline/compression', 'pipeline/wire', 'pipeline/logs'],
  'pipeline/detectors': ['pipeline/core'],
  'pipeline/clusterer': ['pipeline/core', 'pipeline/wire'],
  'pipeline/processors': [
    'pipeline/core',
    'pipeline/bus',
    'pipeline/logs',
    'pipeline/counters',
    'pipeline/alerts',
    'pipeline/detectors',
    'pipeline/clusterer',
    'logsql',
  ],
  logsql: ['pipeline/core', 'pipeline/clusterer'],
  sinks: ['pipeline/core', 'pipeline/bus', 'pipeline/logs', 'pipeline/counters', 'pipeline/alerts', 'pipeline/store'],
  api: [
    'pipeline/compression',
    'pipeline/core',
    'pipeline/bus',
    'pipeline/logs',
    'pipeline/alerts',
    'pipeline/notify',
    'pipeline/store',
    'pipeline/normalizers',
    'pipeline/clusterer',
    'logsql',
  ],
  cli: ['pipeline/core', 'pipeline/wire', 'pipeline/detectors', 'logsql'],
  main: [
    'pipeline/core',
    'pipeline/bus',
    'pipeline/logs',
    'pipeline/alerts',
    'pipeline/notify',
    'pipeline/store',
    'pipeline/normalizers',
    'pipeline/processors',
    'logsql',
    'sinks',
    'api',
    'compose',
  ],
  compose: ['pipeline/core'],
};
const OWNED_PACKAGES = { kafkajs: ['pipeline/bus'], 'kafkajs-snappy': ['pipeline/bus'], '@clickhouse/client': ['pipeline/store', 'sinks'] };

const roomOf = (file) => {
  const relative = path
    .relative(import.meta.dirname, file)
    .split(path.sep)
    .join('/');
  return Object.keys(ROOMS).find((room) => relative.startsWith(`${room}/`));
};

const rooms = {
  create(context) {
    const room = roomOf(context.filename);
    if (room === undefined) return {};
    const check = (node) => {
      const source = node.source?.value;
      if (typeof source !== 'string') return;
      if (source.startsWith('.')) {
        const target = roomOf(path.resolve(path.dirname(context.filename), source));
        if (target !== room && !ROOMS[room].includes(target))
          context.report({ node, message: `${room} may not import ${target ?? source}.` });
      } else if (OWNED_PACKAGES[source] !== undefined && !OWNED_PACKAGES[source].includes(room)) {
        context.report({ node, message: `Only ${OWNED_PACKAGES[source].join(' and ')} may import ${source}.` });
      }
    };
    return { ImportDeclaration: check, ExportNamedDeclaration: check, ExportAllDeclaration: check, ImportExpression: check };
  },
};

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'data/', '.cache/', '.bench/', 'pipeline/wasm/assembly/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      'no-console': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // `array[i] as T` states that the index is in range where a loop has just checked it
      '@typescript-eslint/no-unnecessary-type-assertion': 'error',
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/unified-signatures': 'off',
    },
  },
  {
    files: ['{pipeline,api,sinks,logsql,main,cli,compose}/**/*.{ts,mjs}'],
    plugins: { logweir: { rules: { rooms, words } } },
    rules: { 'logweir/rooms': 'error', 'logweir/words': 'error', 'max-lines': ['error', 400], 'max-lines-per-function': ['error', 60] },
  },
  {
    files: ['**/*.{mjs,js}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setInterval: 'readonly',
        clearInterval: 'readonly',
        setImmediate: 'readonly',
        fetch: 'readonly',
        AbortSignal: 'readonly',
        AbortController: 'readonly',
        performance: 'readonly',
      },
    },
  },
  {
    files: ['test/**/*.ts', 'bench/**/*.ts', 'examples/**/*.ts'],
    rules: { '@typescript-eslint/no-unused-expressions': 'off', '@typescript-eslint/no-non-null-assertion': 'off', 'no-console': 'off' },
  },
);
