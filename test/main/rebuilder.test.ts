import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Rebuilder } from '../../main/dev/rebuilder.ts';

/** A compiled program: what its modules load and start. */
const PROGRAM: Readonly<Record<string, string>> = {
  'main/role.js': "import { log } from '../pipeline/log.js';\nconst load = () => import('./roles/sink.js');",
  'main/supervise.js': "import { engine } from '../compose/engine.js';",
  'main/setup.js': "import { tables } from '../pipeline/tables.js';",
  'main/roles/sink.js': "import { writer } from '../../sinks/writer.js';\nimport '../../pipeline/effects.js';",
  'main/roles/app.js': "export * from '../../api/queries.js';\nimport { a } from 'a-package';",
  'api/queries.js': "const PROGRAM = path.join(import.meta.dirname, 'workers', 'query-worker');",
  'api/workers/query-worker.js': 'const DETECTOR = path.join(import.meta.dirname, `detector${EXTENSION}`);',
  'api/workers/detector.js': '',
  'sinks/writer.js': "import {\n  several,\n  names,\n} from '../pipeline/rows.js';",
  'pipeline/rows.js': "import { writer } from '../sinks/writer.js';",
  'pipeline/log.js': '',
  'pipeline/effects.js': '',
  'pipeline/tables.js': '',
  'compose/engine.js': '',
  'cli/cli.js': '',
};

describe('a rebuild of the program', () => {
  let dist: string;
  let lines: string[];
  let restarted: (readonly string[])[];
  let build: () => void;
  const write = (name: string, text: string): void => {
    mkdirSync(path.dirname(path.join(dist, name)), { recursive: true });
    writeFileSync(path.join(dist, name), text);
  };
  const change = (name: string): void => write(name, `${PROGRAM[name] ?? ''}\n// changed ${String(Math.random())}`);
  let rebuilder: Rebuilder;
  beforeEach(() => {
    dist = mkdtempSync(path.join(os.tmpdir(), 'logweir-dist-'));
    for (const [name, text] of Object.entries(PROGRAM)) write(name, text);
    [lines, restarted, build] = [[], [], () => undefined];
    rebuilder = new Rebuilder({
      dist,
      build: () => Promise.resolve().then(() => build()),
      processes: new Map([
        ['app', ['app']],
        ['sinks', ['sink']],
      ]),
      restart: (names) => Promise.resolve(void restarted.push(names)),
      log: (line) => void lines.push(line),
    });
  });
  afterEach(() => rmSync(dist, { recursive: true, force: true }));

  for (const [name, names] of Object.entries({
    'main/role.js': ['app', 'sinks'],
    'pipeline/log.js': ['app', 'sinks'],
    'main/roles/sink.js': ['sinks'],
    'sinks/writer.js': ['sinks'],
    'pipeline/rows.js': ['sinks'],
    'pipeline/effects.js': ['sinks'],
    'main/roles/app.js': ['app'],
    'api/workers/query-worker.js': ['app'],
    'api/workers/detector.js': ['app'],
    'cli/cli.js': [],
    'compose/engine.js': [],
  }))
    it(`with another ${name} starts ${names.join(' and ') || 'nothing'} again`, async () => {
      build = () => change(name);
      await rebuilder.changed();
      expect(restarted).to.deep.equal(names.length === 0 ? [] : [names]);
      expect(lines.join('\n')).to.contain(name.replace('.js', '.ts'));
    });

  for (const name of ['compose/engine.js', 'pipeline/tables.js'])
    it(`tells that another ${name} needs a start by hand`, async () => {
      build = () => change(name);
      await rebuilder.changed();
      expect(lines[0]).to.contain('stop and start');
    });

  it('starts nothing again where the program is the same, or does not compile; the next one makes up for it', async () => {
    await rebuilder.changed();
    build = () => {
      change('sinks/writer.js');
      throw new Error('sinks/writer.ts(1,1): no such name');
    };
    await rebuilder.changed();
    expect(restarted).to.deep.equal([]);
    expect(lines).to.deep.equal(['sinks/writer.ts(1,1): no such name']);
    build = () => undefined;
    await rebuilder.changed();
    expect(restarted).to.deep.equal([['sinks']]);
  });

  it('is made once more for what changes while it is made, and not once for each', async () => {
    let builds = 0;
    build = () => {
      builds += 1;
      if (builds > 1) return;
      change('sinks/writer.js');
      for (let at = 0; at < 5; at++) void rebuilder.changed();
    };
    await rebuilder.changed();
    expect(builds).to.equal(2);
    expect(restarted).to.deep.equal([['sinks']]);
  });
});
