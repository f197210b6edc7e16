import { expect } from 'chai';
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadExtensions } from '../../main/extensions.ts';
import { signals } from '../../main/signals.ts';
import { topicsWith } from '../../main/topics.ts';

const root = path.resolve(import.meta.dirname, '../..');
const METHODS = 'init: () => ({}), fold: () => [], snapshot: () => Buffer.alloc(0), restore: () => null';

describe('processors of others', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-extensions-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const refused = async (...files: string[]): Promise<string> => {
    const error: unknown = await loadExtensions(files).catch((reason: unknown) => reason);
    return error instanceof Error ? error.message.replaceAll(folder, '') : 'nothing';
  };

  it('are loaded from TypeScript and JavaScript, also where the package is installed beside them', async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(root, path.join(folder, 'node_modules/logweir'));
    const typed = `import { jsonState, type Extension } from 'logweir/processor';
      const extension: Extension = { processor: { name: 'typed', ...jsonState(() => ({ n: 1 as number })), fold: () => [] } };
      export default extension;`;
    const plain = `export default { processor: { name: 'plain', ${METHODS} }, merger: { name: 'merged', of: 'plain', ${METHODS} } };`;
    const found = await loadExtensions([file('typed.ts', typed), file('plain.mjs', plain)]);
    expect(found.map(({ processor, merger }) => [processor.name, merger?.name])).to.deep.equal([
      ['typed', undefined],
      ['plain', 'merged'],
    ]);
    expect(found[0]?.processor.init()).to.deep.equal({ n: 1 });
    expect(topicsWith(found, signals.members).names).to.include.members([
      'state.typed.v1',
      'state.plain.v1',
      'state.merged.v1',
      'state.volume.v1',
    ]);
  });

  it('are refused with a sentence that names the file', async () => {
    const one = (name: string, more = ''): string => `export default { processor: { name: ${JSON.stringify(name)}, ${METHODS} }${more} };`;
    expect(await refused('/nowhere.ts')).to.match(/^The processor \/nowhere\.ts cannot be loaded: /);
    expect(await refused(file('syntax.ts', 'export default {'))).to.match(/^The processor \/syntax\.ts cannot be loaded: /);
    expect(await refused(file('throws.ts', 'throw new Error("no");'))).to.equal('The processor /throws.ts cannot be loaded: no');
    const cannot = async (name: string, text: string): Promise<string> =>
      (await refused(file(name, text))).replace(`The processor /${name} cannot be used: `, '');
    expect(await cannot('none.ts', 'export const a = 1;')).to.equal('Its default export must be an object with the member "processor".');
    expect(await cannot('bare.ts', 'export default { processor: { name: "a" } };')).to.equal('Its processor must have the method "init".');
    for (const name of ['', 'A', 'a_b', 'a'.repeat(64)])
      expect(await cannot(`n${String(name.length)}${name.slice(0, 3)}.ts`, one(name))).to.match(/^Its processor must have a name of a-z/);
    expect(await cannot('taken.ts', one('volume'))).to.equal('The name of its processor, "volume", is taken.');
    const merger = (name: string, of: string): string => `, merger: { name: '${name}', of: '${of}', ${METHODS} }`;
    expect(await cannot('of.ts', one('a', merger('b', 'c')))).to.equal('Its merger must have the member "of" with the name of the processor, "a".'); // prettier-ignore
    expect(await cannot('same.ts', one('a', merger('a', 'a')))).to.equal('The name of its merger, "a", is taken.');
    const half = (members: string): string => `export default { processor: { name: 'h', ${METHODS}, ${members} } };`;
    for (const [at, members] of ['settings: {}', 'configure() {}', 'settings: null, configure() {}, checkSetting: () => null'].entries())
      expect(await cannot(`half${String(at)}.ts`, half(members))).to.match(/must have "settings" and the methods .* or none of them\.$/);
    expect(await cannot('keys.ts', half('settings: { maxOf: [] }, configure() {}, checkSetting: () => null'))).to.contain('(got "maxOf")');
    const two = file('two.ts', one('twice'));
    expect(await refused(two, two)).to.contain('"twice", is taken');
  });
});
