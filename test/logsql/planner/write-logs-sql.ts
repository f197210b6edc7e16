/** Writes what `logs-sql.test.ts` compares with: run where statements over entries were changed on purpose. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { logsSql } from './logs-sql.ts';

writeFileSync(path.join(import.meta.dirname, '../../fixtures/statements/logs.json'), `${JSON.stringify(await logsSql(), null, 1)}\n`);
