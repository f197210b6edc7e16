import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const SETS = path.join(process.env['LOGWEIR_SHARED'] ?? '../shared', 'conformance/clusters/loghub');

/** The lines of the Loghub sets, which are no part of the product: they are read from the folder of `LOGWEIR_SHARED`. */
export function loghubLines(kind: 'content' | 'raw'): string[] {
  if (!existsSync(SETS)) throw new Error(`The Loghub sets are missing: ${SETS} (set LOGWEIR_SHARED).`);
  return readdirSync(SETS).flatMap((set) => readFileSync(path.join(SETS, set, `${kind}.log`), 'utf8').split('\n'));
}
