import { expect } from 'chai';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findJava } from '../../compose/embedded/java.ts';

/** A PATH with nothing on it but what a test puts there. */
describe('what the embedded Kafka needs of the system', () => {
  const { PATH, JAVA_HOME } = process.env;
  let folder: string;
  let lines: string[];
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-java-'));
    lines = [];
    process.env['PATH'] = folder;
    delete process.env['JAVA_HOME'];
  });
  afterEach(() => {
    process.env['PATH'] = PATH;
    if (JAVA_HOME !== undefined) process.env['JAVA_HOME'] = JAVA_HOME;
    rmSync(folder, { recursive: true, force: true });
  });

  const at = (name: string): string => path.join(folder, name);
  const program = (name: string, text: string): void => {
    writeFileSync(at(name), `#!/bin/sh\n${text}\n`);
    chmodSync(at(name), 0o755);
  };
  const JAVA = `echo 'openjdk version "21.0.4"' >&2`;
  /** Knows some packages; what they hold lies beside it until then. */
  const aptGet = (...known: string[]): void => {
    program('java.package', JAVA);
    program('mvn.package', '');
    const cases = known.map(
      (name) => `${name}) /bin/cp ${at(name === 'maven' ? 'mvn' : 'java')}.package ${at(name === 'maven' ? 'mvn' : 'java')};;`,
    );
    program(
      'apt-get',
      `echo "$*" >> ${at('asked')}\ncase "$*" in *update) exit 0;; esac\nshift 4\nfor name in "$@"; do case "$name" in ${cases.join(' ')} *) echo "E: Unable to locate package $name"; exit 100;; esac; done`,
    );
  };
  const asked = (): string[] => (existsSync(at('asked')) ? readFileSync(at('asked'), 'utf8').trim().split('\n') : []);
  const find = (options: { readonly maven?: boolean; readonly mayInstall?: boolean; readonly isRoot?: boolean } = {}): Promise<unknown> =>
    findJava({ maven: true, isRoot: true, log: (line) => lines.push(line), ...options }).catch(
      (error: unknown) => (error as Error).message,
    );

  it('is taken where it is, and nothing is installed', async () => {
    aptGet('openjdk-17-jre-headless', 'maven');
    program('java', JAVA);
    expect(await find({ maven: false })).to.deep.equal({ java: at('java'), maven: '' });
    program('mvn', '');
    expect(await find({ mayInstall: false })).to.deep.equal({ java: at('java'), maven: at('mvn') });
    expect([lines, asked()]).to.deep.equal([[], []]);
  });

  it('is installed by root, who is told what and why before', async () => {
    aptGet('openjdk-17-jre-headless', 'maven');
    expect(await find()).to.deep.equal({ java: at('java'), maven: at('mvn') });
    expect(lines).to.deep.equal([
      "The embedded Kafka needs Java 17 or newer and Maven, which are not installed: installing openjdk-17-jre-headless and maven from the system's packages with apt-get (LOGWEIR_INSTALL=0 forbids it) …",
    ]);
    expect(asked()).to.deep.equal([
      '-o DPkg::Lock::Timeout=120 update',
      '-o DPkg::Lock::Timeout=120 install -y openjdk-17-jre-headless maven',
    ]);
  });

  it('is installed in another version where there is no other, which is told too', async () => {
    aptGet('default-jre-headless');
    program('java', `echo 'openjdk version "11.0.2"' >&2`);
    expect(await find({ maven: false })).to.deep.equal({ java: at('java'), maven: '' });
    expect(lines.map((line) => /installing (.*) from/.exec(line)?.[1])).to.deep.equal(['openjdk-17-jre-headless', 'default-jre-headless']);
  });

  it('is only named where LOGWEIR_INSTALL=0 forbids it', async () => {
    aptGet('openjdk-17-jre-headless', 'maven');
    expect(await find({ mayInstall: false })).to.equal(
      'The embedded Kafka needs Java 17 or newer and Maven, which are not installed, and LOGWEIR_INSTALL=0 forbids a start to install packages of the system: install them (Debian: apt-get install openjdk-17-jre-headless maven), or name a Kafka cluster in LOGWEIR_KAFKA_BROKERS.',
    );
    program('java', JAVA);
    expect(await find({ mayInstall: false })).to.match(
      /needs Maven, which is not installed, and .*: install it \(Debian: apt-get install maven\)/,
    );
    expect([lines, asked()]).to.deep.equal([[], []]);
  });

  it('is only named to who is not root, and where there is no apt-get', async () => {
    const sentence =
      /^The embedded Kafka needs Java 17 or newer, which is not installed: install it \(Debian: apt-get install openjdk-17-jre-headless\), or/;
    expect(await find({ maven: false })).to.match(sentence);
    aptGet('openjdk-17-jre-headless');
    expect(await find({ maven: false, isRoot: false })).to.match(sentence);
    expect([lines, asked()]).to.deep.equal([[], []]);
  });

  it('is named with the reason of apt-get where that fails', async () => {
    aptGet();
    expect(await find({ maven: false })).to.match(
      /^apt-get could not install openjdk-17-jre-headless \(E: Unable to locate package openjdk-17-jre-headless\): install it/,
    );
  });
});
