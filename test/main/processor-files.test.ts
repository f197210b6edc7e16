import { expect } from 'chai';
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { loadProcessorFiles, settingChecks } from '../../main/processor-files.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import { signals } from '../../main/signals.ts';
import { topicsWith } from '../../main/topics.ts';

const root = path.resolve(import.meta.dirname, '../..');
const METHODS = 'init: () => ({}), fold: () => [], snapshot: () => Buffer.alloc(0), restore: () => null';

describe('processors of others', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-processors-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const refused = async (...files: string[]): Promise<string> => {
    const error: unknown = await loadProcessorFiles(files).catch((reason: unknown) => reason);
    return error instanceof Error ? error.message.replaceAll(folder, '') : 'nothing';
  };

  it('are loaded from TypeScript and JavaScript, also where the package is installed beside them', async () => {
    mkdirSync(path.join(folder, 'node_modules'));
    symlinkSync(root, path.join(folder, 'node_modules/logweir'));
    const typed = `import { jsonState, type Extension, type ProcessorFile } from 'logweir/processor';
      const extension: ProcessorFile & Extension = { processor: { name: 'typed', ...jsonState(() => ({ n: 1 as number })), fold: () => [] } };
      export default extension;`;
    const plain = `export default { processor: { name: 'plain', ${METHODS} }, merger: { name: 'merged', of: 'plain', ${METHODS} } };`;
    const found = await loadProcessorFiles([file('typed.ts', typed), file('plain.mjs', plain)]);
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

  it('say what may be set of them, as do those of the service, which take the names of custom detectors', async () => {
    const most = "settings: { most: [1] }, configure() {}, checkSetting: ({ value }) => (value === 1 ? null : 'most is 1.')";
    const checks = await settingChecks([file('most.mjs', `export default { processor: { name: 'own', ${METHODS}, ${most} } };`)], ['mine']);
    const faultOf = (name: string, key: string, value: Json): string | null | undefined =>
      checks.find((one) => one.name === name)?.checkSetting?.({ tenantId: 1, key, value });
    expect([faultOf('own', 'most', 1), faultOf('own', 'most', 2)]).to.deep.equal([null, 'most is 1.']);
    const rule = { id: 'r1', name: 'r', query: '* | stats count()', every: '1m', severity: 'info', for: 1, sensitivity: 'normal' };
    expect(faultOf('alerting', 'sensitivity', [{ detector: 'mine', sensitivity: 'off' }])).to.equal(null);
    expect(faultOf('alerting', 'sensitivity', [{ detector: 'gone', sensitivity: 'off' }])).to.match(
      /^Rule 1: the detector is one of .*, mine\.$/,
    );
    expect(faultOf('rules', 'rule_1', { ...rule, if: 'gone' })).to.be.a('string');
    expect(Object.keys(checks.find(({ name }) => name === 'custom-detectors')?.settings ?? {})).to.deep.equal(['mine']);
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
