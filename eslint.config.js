import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import { rooms } from './eslint.rooms.js';
import { words } from './eslint.words.js';

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
