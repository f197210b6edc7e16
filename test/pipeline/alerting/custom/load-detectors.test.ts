import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadDetectors } from '../../../../pipeline/alerting/custom/load-detectors.ts';

describe('LOGWEIR_DETECTORS', function () {
  this.timeout(240_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-detectors-'));
  after(() => {
    rmSync(folder, { recursive: true });
  });
  const detector = (name: string): string =>
    `{ name: '${name}', description: 'It never fires.', init: () => 0, look: (state) => ({ state }) }`;
  const write = (at: string, text: string): string => {
    mkdirSync(path.dirname(path.join(folder, at)), { recursive: true });
    writeFileSync(path.join(folder, at), text);
    return at;
  };
  const refused = (...entries: string[]): Promise<string> =>
    loadDetectors(entries, folder).then(() => 'nothing', (error: unknown) => (error as Error).message.replaceAll(folder, '')); // prettier-ignore

  it('has files, folders and packages', async () => {
    write('all/b.ts', `export default ${detector('b').replace('(state)', '(state: number)')};`);
    write('all/a.mjs', `export default [${detector('a')}, ${detector('a_too')}];`);
    write('all/a.test.ts', 'throw new Error("no detector");');
    write('node_modules/@team/found/package.json', '{ "name": "@team/found", "version": "1.2.3", "type": "module", "exports": "./in.js" }');
    write('node_modules/@team/found/in.js', `export default ${detector('found')};`);
    const found = await loadDetectors(['all', '@team/found'], folder);
    expect(found.map(({ name }) => name)).to.deep.equal(['a', 'a_too', 'b', 'found']);
    expect(found[0]?.version).to.match(/^[0-9a-f]{12}$/);
    expect(found.at(-1)?.version).to.equal('1.2.3');
  });

  it('is refused with a sentence that names what cannot be used', async () => {
    expect(await refused('nowhere.ts')).to.equal('The detector nowhere.ts cannot be loaded: there is no such file or folder.');
    expect(await refused('nobody')).to.match(/no such file or folder, nor a package of this name\.$/);
    mkdirSync(path.join(folder, 'empty'));
    expect(await refused('empty')).to.match(/^The folder empty of LOGWEIR_DETECTORS has no detectors/);
    expect(await refused(write('half.mjs', 'export default { name: "half" };'))).to.match(/^The detector \/half\.mjs cannot be used: It must have a description/); // prettier-ignore
    expect(await refused(write('broken.ts', 'export default {'))).to.match(/^The detector \/broken\.ts cannot be loaded: /);
    for (const name of ['log_rate', 'anomaly', 'rule'])
      expect(await refused(write(`${name}.mjs`, `export default ${detector(name)};`))).to.equal(`The detector /${name}.mjs cannot be used: The name "${name}" is taken.`); // prettier-ignore
  });
});
