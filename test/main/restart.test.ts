import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readSettings } from '../../main/settings.ts';
import { Supervisor } from '../../main/supervisor.ts';
import { freePorts } from '../free-ports.ts';
import * as engines from './fixtures/fake-engines.ts';

type Line = { readonly role: string; readonly pid: number; readonly restarts: number };

describe('roles that are started again for new code', () => {
  it('are ready again when that resolves; the others and the engines go on', async function () {
    this.timeout(60_000);
    const dataDir = mkdtempSync(path.join(os.tmpdir(), 'logweir-restart-'));
    const [app, ingest, admin] = (await freePorts(3)).map(String) as [string, string, string];
    const env = {
      ...{ PATH: process.env['PATH'], LOGWEIR_DATA_DIR: dataDir },
      ...{ LOGWEIR_APP_PORT: app, LOGWEIR_INGEST_PORT: ingest, LOGWEIR_ADMIN_PORT: admin },
    };
    const dist = path.join(import.meta.dirname, 'fixtures', 'fake-program');
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const supervisor = new Supervisor({ settings: readSettings(env, []), env, dist, log, engines });
    const listed = (): ReadonlyMap<string, Line> =>
      new Map((JSON.parse(readFileSync(path.join(dataDir, 'instance.json'), 'utf8')) as Line[]).map((line) => [line.role, line]));
    try {
      await supervisor.start();
      const before = listed();
      await supervisor.restart(['sink', 'app']);
      const after = listed();
      for (const [role, { pid, restarts }] of after) {
        const isOther = role === 'sink' || role === 'app';
        expect(pid === before.get(role)?.pid, role).to.equal(!isOther);
        expect(restarts, role).to.equal(isOther ? 1 : 0);
      }
      expect(after.size).to.equal(before.size);
      expect(lines.filter((line) => line.includes('again'))).to.deep.equal([]);
    } finally {
      await supervisor.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
