import { expect } from 'chai';
import { auditCommand, type Audited, type RunAudit } from '../../cli/audit.ts';

const partition = (pending_records: number, removed_records: number): Audited['partitions'][number] =>
  ({ partition: 0, first: 0, next: 1, pending_records, removed_records }); // prettier-ignore

const CLEAN: Audited = {
  topic: 'logs.v1', records: 1200, entries: 34_567, lost: 0, doubled: 0, stray: 0, aged_out: 0, dead_lettered: 0,
  partitions: [partition(0, 0), partition(0, 0)], findings: [], hours: [],
}; // prettier-ignore

/** What the command asked for, wrote and ended with. */
async function run(
  argv: readonly string[],
  report: Audited | Error = CLEAN,
): Promise<{ code: number; out: string; err: string; asked: unknown }> {
  const said = { code: -1, out: '', err: '', asked: null as unknown };
  const audit: RunAudit = ({ onProgress, ...asked }) => {
    onProgress(1);
    said.asked = asked;
    return report instanceof Error
      ? Promise.reject(report)
      : Promise.resolve(
          asked.allSets === true
            ? [
                { ...report, set: 'a' },
                { ...report, set: 'b' },
              ]
            : [report],
        );
  };
  const output = { out: (text: string) => void (said.out += text), err: (text: string) => void (said.err += text), isTerminal: true };
  said.code = await auditCommand(argv, audit, {}, output);
  return said;
}

describe('logweir audit', () => {
  it('says in one line that nothing is wrong', async () =>
    expect(await run([])).to.deep.equal({
      code: 0,
      out: 'logs.v1: 0 lost, 0 doubled of 34,567 entries in 1,200 records\n',
      err: '',
      asked: {},
    }));

  it('shows what was found as a table, the rest in a line, and ends with 1', async () => {
    const findings: Audited['findings'] = [
      { kind: 'lost', partition: 1, hour: '2026-11-21T09:00Z', entries: 12, records: 7, offsets: ['5-6', '9', '11', '13', '15', '17'] },
      { kind: 'stray', partition: 0, hour: '2026-11-21T10:00Z', entries: 1, records: 1, offsets: ['4'] },
    ];
    const partitions = [partition(3, 1000), partition(4, 0)];
    const { code, out } = await run([], { ...CLEAN, lost: 12, stray: 1, aged_out: 5, dead_lettered: 2, partitions, findings });
    expect(code).to.equal(1);
    expect(out.split('\n')).to.deep.equal([
      'KIND   PARTITION  HOUR               ENTRIES  RECORDS  OFFSETS',
      'lost   1          2026-11-21T09:00Z  12       7        5-6 9 11 13 15 …',
      'stray  0          2026-11-21T10:00Z  1        1        4',
      '',
      'logs.v1: 12 lost, 0 doubled of 34,567 entries in 1,200 records; 1 rows of no entry; 2 in the dead letters; 5 too old to be kept; 7 records not stored yet; 1,000 records that Kafka has no more',
      '',
    ]);
  });

  it('audits a set by its name, or every set, each with its name', async () => {
    expect((await run(['--set', 'b'])).asked).to.deep.equal({ set: 'b' });
    const { out, asked } = await run(['--all-sets']);
    expect(asked).to.deep.equal({ allSets: true });
    expect(out.split('\n').map((line) => line.slice(0, 21))).to.deep.equal(['set a: logs.v1: 0 los', 'set b: logs.v1: 0 los', '']);
    const lines = (await run(['--all-sets', '--json'])).out.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Audited)).to.deep.equal([
      { ...CLEAN, set: 'a' },
      { ...CLEAN, set: 'b' },
    ]);
  });

  it('prints everything as JSON', async () => expect(JSON.parse((await run(['--json'])).out)).to.deep.equal(CLEAN));

  it('takes times that begin with a dash', async () => {
    expect((await run(['--from', '-1h', '--to=-5m', '--topic', 'logs.v1'])).asked).to.deep.equal({
      from: '-1h',
      to: '-5m',
      topic: 'logs.v1',
    });
  });

  for (const argv of [['--frm', 'x'], ['--from'], ['x'], ['--json=1'], ['-from', 'x']])
    it(`refuses ${argv.join(' ')}`, async () => {
      const { code, err, asked } = await run(argv);
      expect([code, asked]).to.deep.equal([2, null]);
      expect(err).to.contain('Usage: logweir audit');
    });

  it('ends with 2 where the flags mean nothing, with 1 where an engine does not answer', async () => {
    const wrong = Object.assign(new Error('--from "soon" is not a valid time.'), { name: 'UsageError' });
    expect(await run([], wrong)).to.include({ code: 2, out: '', err: '--from "soon" is not a valid time.\n' });
    expect(await run([], new Error('Kafka does not answer.'))).to.include({ code: 1, err: 'Kafka does not answer.\n' });
  });
});
