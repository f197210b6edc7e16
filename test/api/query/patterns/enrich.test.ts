import { expect } from 'chai';
import type { Deps, Request, KnownPattern } from '../../../../api/query/deps.ts';
import { enriched, errorPattern } from '../../../../api/query/patterns/enrich.ts';
import { fingerprintOf } from '../../../../pipeline/clusterer/shapes.ts';

const numberOf = (template: string): string => fingerprintOf(template).slice(0, 16);
const entry = (more: object): string => JSON.stringify({ _time: '2026-11-24T00:00:00Z', _stream: '{a="\\"x\\\\"}', ...more });

describe('the pattern of an error, by the JSON text of the entry', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['an error', entry({ _msg: 'took 5 ms', level: 'error', a: '1' }), numberOf('took <N>')],
    ['a fatal one', entry({ _msg: 'took 5 ms', level: 'CRITICAL' }), numberOf('took <N>')],
    ['quotes and backslashes', entry({ _msg: 'a "b\\" c\\', level: 'err' }), numberOf('a "b\\" c\\')],
    ['a level in the message', entry({ _msg: '","level":"error', level: 'info' }), ''],
    ['no error', entry({ _msg: 'took 5 ms', level: 'info' }), ''],
    ['no level', entry({ _msg: 'took 5 ms', service: 'error' }), ''],
    ['no message', entry({ level: 'error' }), ''],
    ['one with a fingerprint of its own', entry({ _msg: 'x', level: 'error', _fingerprint: 'mine' }), ''],
    ['rows of pipes', '{"level":"error","_msg":"x"}', ''],
    ['nothing', '{}', ''],
  ];
  for (const [what, text, pattern] of cases)
    it(what, () => {
      expect(errorPattern(text)).to.equal(pattern);
    });
});

describe('entries with what is known of their patterns', () => {
  it('are enriched where they are errors whose pattern is known, and nobody is asked where none is an error', async () => {
    const asked: string[][] = [];
    const known: KnownPattern = { fingerprint: fingerprintOf('took <N>'), firstSeen: '2026-11-01T00:00:00Z', occurrences: 12 };
    const patterns = {
      of: (wanted: Iterable<string>) => {
        asked.push([...wanted]);
        return Promise.resolve(new Map([[numberOf('took <N>'), known]]));
      },
    };
    async function* chunks(): AsyncGenerator<{ rows: string[]; placeOf: () => null }> {
      await Promise.resolve();
      const of = (...rows: string[]): { rows: string[]; placeOf: () => null } => ({ rows, placeOf: () => null });
      yield of(entry({ _msg: 'took 5 ms', level: 'info' }));
      yield of(entry({ _msg: 'took 7 ms', level: 'error' }), entry({ _msg: 'other', level: 'error' }));
    }
    const rows: unknown[] = [];
    for await (const chunk of enriched(chunks(), {} as Request, { patterns } as unknown as Deps)) rows.push(...chunk.rows.map((text) => JSON.parse(text) as unknown)); // prettier-ignore
    expect(asked).to.deep.equal([[numberOf('took <N>'), numberOf('other')]]);
    expect(rows[0]).to.not.have.property('_fingerprint');
    expect(rows[1]).to.include({ _msg: 'took 7 ms', _fingerprint: known.fingerprint, _first_seen: known.firstSeen, _occurrences: 12 });
    expect(rows[2]).to.not.have.property('_fingerprint');
  });
});
