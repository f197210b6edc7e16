import path from 'node:path';

/** The compiled query worker: one that reads TypeScript takes seconds of CPU time to begin, and 60 MB more. */
export const builtWorker = { module: path.resolve(import.meta.dirname, '../../dist/api/engine/workers/query-worker.js') };
