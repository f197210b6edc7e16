import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isWhole } from '../../extent.ts';
import { startInstance } from '../instance.ts';

const root = path.resolve(import.meta.dirname, '../../..');

describe('npm run release', function () {
  this.timeout(600_000);
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { readonly version: string };
  let out: string;
  let folder: string;
  const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8');
  before(() => {
    out = mkdtempSync(path.join(os.tmpdir(), 'logweir-release-'));
    folder = path.join(out, `logweir-${version}`);
    const program = `import { release } from './main/release/release.mjs'; await release(${JSON.stringify(out)});`;
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
    execFileSync('tar', ['-xzf', path.join(out, `logweir-${version}.tar.gz`), '-C', out]);
  });
  after(() => rmSync(out, { recursive: true, force: true }));

  it('has the compiled program and its sources, and no tests', () => {
    expect(readdirSync(folder)).to.include.members(['dist', 'docs', 'examples', 'main', 'package-lock.json', 'pipeline', 'LICENSE']);
    expect(readdirSync(folder)).not.to.include.members(['test', 'bench', 'node_modules', 'data']);
    expect(readdirSync(path.join(folder, 'dist'))).to.include.members(['api', 'cli', 'main', 'pipeline', 'sinks']);
    expect(JSON.parse(read('release.json'))).to.deep.include({ version });
  });

  it('names the licence of each package that it needs, and lists all of them', () => {
    const { dependencies } = JSON.parse(read('package.json')) as { readonly dependencies: object };
    const { components } = JSON.parse(read('sbom.cdx.json')) as { readonly components: readonly { readonly name: string }[] };
    const notices = [...read('THIRD-PARTY-NOTICES.md').matchAll(/^- (\S+) \S+ \((.+)\)$/gm)].map(([, name, licence]) => [name, licence]);
    const named = notices.map(([name]) => name);
    expect(named).to.include.members(Object.keys(dependencies)).and.not.include('mocha');
    expect(notices.filter(([, licence]) => licence === 'undefined')).to.deep.equal([]);
    expect([...new Set(named)].sort()).to.deep.equal([...new Set(components.map(({ name }) => name))].sort());
  });

  // it installs packages, and what starts is what the other tests start
  (isWhole ? it : it.skip)('starts where nothing is compiled', async () => {
    symlinkSync(path.join(root, '.cache'), path.join(folder, '.cache'));
    const instance = await startInstance({ root: folder });
    try {
      expect((await instance.call('GET', `${instance.app}/health`)).status).to.equal(200);
    } finally {
      await instance.stop();
    }
  });
});
