import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { archived, classArchive } from '../../compose/embedded/class-archive.ts';

describe('the archive of Kafka’s classes', () => {
  let jars: string;
  let java: string;
  beforeEach(() => {
    jars = mkdtempSync(path.join(os.tmpdir(), 'logweir-archive-'));
    java = path.join(jars, 'java');
    writeFileSync(java, 'one');
    writeFileSync(path.join(jars, 'a.jar'), '');
  });
  afterEach(() => rmSync(jars, { recursive: true, force: true }));

  const archives = (): readonly string[] => readdirSync(jars).filter((name) => name.includes('.jsa'));
  /** What a Java that has been started with these options and ends in peace leaves behind. */
  const write = (args: readonly string[]): void => {
    const file = args.map((arg) => /^-XX:ArchiveClassesAtExit=(.+)$/.exec(arg)?.[1]).find(Boolean);
    if (file !== undefined) writeFileSync(file, 'classes');
  };

  it('is written by the first Java that ends in peace, and used by the next', () => {
    expect(archived(java, jars)).to.deep.equal([]);
    const first = classArchive(java, jars);
    write(first.args);
    expect(archived(java, jars), 'not before it is whole').to.deep.equal([]);
    first.keep();
    const [name = ''] = archives();
    const second = classArchive(java, jars);
    expect(second.args)
      .to.include(`-XX:SharedArchiveFile=${path.join(jars, name)}`)
      .and.to.deep.equal(archived(java, jars));
    second.keep();
    expect(archives()).to.deep.equal([name]);
  });

  it('is not there after a Java that was killed, and two that write at once leave one', () => {
    const [first, second, third] = [classArchive(java, jars), classArchive(java, jars), classArchive(java, jars)];
    first.keep();
    expect(archives()).to.deep.equal([]);
    write(second.args);
    write(third.args);
    second.keep();
    third.keep();
    expect(archives()).to.have.length(1);
    expect(archived(java, jars)).to.have.length(2);
  });

  it('is of one Java and one set of jars: another replaces it', () => {
    const first = classArchive(java, jars);
    write(first.args);
    first.keep();
    const before = archives();
    for (const change of [() => writeFileSync(java, 'another'), () => writeFileSync(path.join(jars, 'b.jar'), '')]) {
      change();
      expect(archived(java, jars)).to.deep.equal([]);
      const next = classArchive(java, jars);
      write(next.args);
      next.keep();
      expect(archives()).to.have.length(1).and.to.not.deep.equal(before);
    }
  });
});
