import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { until } from './instance.ts';

const MAIN = path.resolve(import.meta.dirname, '../../main');

/** A folder with what runs before anything is compiled, and a compiled program that only says what it was given. */
class Clone {
  readonly root = mkdtempSync(path.join(os.tmpdir(), 'logweir-start-'));
  stdout = '';
  stderr = '';
  child: ChildProcess | null = null;

  constructor() {
    for (const file of ['start', 'runtime', 'install', 'lock', 'build-wasm'])
      cpSync(path.join(MAIN, `${file}.mjs`), this.path(`main/${file}.mjs`));
    this.write('package.json', '{ "type": "module" }');
    this.write('package-lock.json', '{}');
    // compiled already
    this.write('release.json', '{}');
    this.write(
      'dist/main/supervise.js',
      'export async function supervise(argv) { process.stdout.write(`supervises ${argv.join()}\\n`); process.exitCode = 3; }',
    );
  }

  path(file: string): string {
    return path.join(this.root, file);
  }

  write(file: string, text: string): void {
    mkdirSync(path.dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), text);
  }

  /** As npm does it; `npm` is the text of the program that stands for npm. */
  start(npm: string, ...args: string[]): Promise<number | NodeJS.Signals | null> {
    this.write('npm.js', npm);
    const env = { ...process.env, npm_execpath: this.path('npm.js') };
    const child = spawn(process.execPath, [this.path('main/start.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.stdout.on('data', (part: Buffer) => (this.stdout += part.toString()));
    child.stderr.on('data', (part: Buffer) => (this.stderr += part.toString()));
    return new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal)));
  }
}

/** Says that it has begun, and ends once another has, or its parent is gone. */
const meets = (own: string, other: string): string =>
  `import { existsSync, writeFileSync } from 'node:fs'; writeFileSync('${own}', '');
   const parent = process.ppid;
   const timer = setInterval(() => (existsSync('${other}') || process.ppid !== parent) && clearInterval(timer), 10);`;

const INSTALLS = "import { mkdirSync } from 'node:fs'; mkdirSync('node_modules', { recursive: true });";

describe('npm start, before the supervisor', () => {
  let clone: Clone;
  beforeEach(() => (clone = new Clone()));
  afterEach(() => {
    clone.child?.kill('SIGKILL');
    rmSync(clone.root, { recursive: true, force: true });
  });

  it('installs the packages, once, and hands the command line over', async () => {
    expect(await clone.start(INSTALLS, '--role', 'sink')).to.equal(3);
    expect([clone.stdout, clone.stderr]).to.deep.equal(['supervises --role,sink\n', 'logweir: installing packages …\n']);
    expect(await clone.start('process.exit(1)')).to.equal(3);
    expect(clone.stderr).to.equal('logweir: installing packages …\n');
  });

  it('says what npm complains of', async () => {
    expect(await clone.start("console.error('npm error code E404\\nnpm notice news'); process.exit(1)")).to.equal(1);
    expect(clone.stderr).to.equal('logweir: installing packages …\nlogweir: The packages could not be installed:\nnpm error code E404\n');
    expect(clone.stdout).to.equal('');
  });

  it('shows the stack of a bug', async () => {
    rmSync(clone.path('dist'), { recursive: true });
    expect(await clone.start(INSTALLS)).to.equal(1);
    expect(clone.stderr).to.match(/^logweir: Error.*supervise\.js.*\n {4}at /m);
  });

  /** Sources, and a compiler for each of their languages. */
  const uncompiled = (compiler: string, fetcher: string): void => {
    rmSync(clone.path('release.json'));
    clone.write('node_modules/.package-lock.json', '{}'); // installed by hand
    clone.write('main/compile.mjs', compiler);
    clone.write('node_modules/assemblyscript/package.json', '{ "type": "module" }');
    clone.write(
      'node_modules/assemblyscript/bin/asc.js',
      "import { writeFileSync } from 'node:fs'; writeFileSync(process.argv.at(-1), '');",
    );
    clone.write('pipeline/wasm/assembly/index.ts', '');
    clone.write('web/build-ui.mjs', "import { mkdirSync } from 'node:fs'; mkdirSync('dist/web/ui', { recursive: true });");
    clone.write('main/fetch-kafka.ts', fetcher);
  };

  it('has Kafka fetched while it compiles, once', async () => {
    uncompiled(meets('compiles', 'fetches'), meets('fetches', 'compiles'));
    expect(await clone.start('')).to.equal(3);
    expect(clone.stderr).to.equal('logweir: building …\n');
    expect([existsSync(clone.path('compiles')), existsSync(clone.path('fetches'))]).to.deep.equal([true, true]);
    rmSync(clone.path('fetches'));
    expect(await clone.start('')).to.equal(3);
    expect(existsSync(clone.path('fetches'))).to.equal(false);
  });

  it('goes on where Kafka could not be fetched: the supervisor says why', async () => {
    uncompiled('', 'process.exitCode = 1;');
    expect(await clone.start('')).to.equal(3);
    expect(clone.stderr).to.equal('logweir: building …\n');
  });

  it('says what the compiler complains of', async () => {
    uncompiled("console.log('main/a.ts: error no.\\n   1 | const'); process.exit(2);", '');
    expect(await clone.start('')).to.equal(1);
    expect(clone.stderr).to.equal('logweir: building …\nlogweir: The program could not be compiled:\nmain/a.ts: error no.\n');
  });

  it('goes on when nobody reads its lines any more', async () => {
    const ended = clone.start(meets('begun', 'unread'));
    await until(() => existsSync(clone.path('begun')), 'npm runs');
    clone.child?.stderr?.destroy();
    uncompiled('', '');
    clone.write('unread', '');
    expect(await ended).to.equal(3);
  });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    it(`is stopped by ${signal} while it installs, and installs the next time`, async () => {
      const ended = clone.start("import { writeFileSync } from 'node:fs'; writeFileSync('begun', ''); setInterval(() => {}, 1000);");
      await until(() => existsSync(clone.path('begun')), 'npm runs');
      clone.child?.kill(signal);
      expect(await ended).to.equal(0);
      expect(clone.stderr).to.equal('logweir: installing packages …\nlogweir: stopping …\n');
      expect(existsSync(clone.path('.cache/logweir/install.lock'))).to.equal(false);
      expect(await clone.start(INSTALLS)).to.equal(3);
    });
});
