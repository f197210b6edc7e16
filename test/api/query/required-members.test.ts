import { expect } from 'chai';
import fc from 'fast-check';
import { renderResult } from '../../../api/query/render.ts';
import { loki } from '../../../pipeline/normalizers/loki.ts';
import { jsonEntries } from '../../../pipeline/normalizers/json-entries.ts';
import { syslog } from '../../../pipeline/normalizers/syslog.ts';
import { normalize } from '../../pipeline/normalizers/normalize.ts';

/** Members that a LogEntry must have (spec: `_time`, `_msg`, `_stream`). */
const REQUIRED = ['_time', '_msg', '_stream'];

const line = fc.oneof(
  fc.constant(''),
  fc.constant(' '),
  fc.constant('{}'),
  fc.constant('{"_msg":""}'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const json = fc.dictionary(
  fc.constantFrom('_msg', 'message', 'a', '_stream', '_time', 'level', '__proto__'),
  fc.oneof(fc.string(), fc.constant(''), fc.constant(null), fc.integer(), fc.constant({})),
);

describe('an entry that was taken, as it is shown', () => {
  const shown = (...given: Parameters<typeof normalize>): string[] => {
    const result = normalize(...given);
    return 'entries' in result ? result.entries.map(renderResult) : [];
  };
  const isWhole = (text: string): void => {
    const entry = JSON.parse(text) as Record<string, unknown>;
    for (const name of REQUIRED) expect(entry[name], text).to.be.a('string');
  };

  it('has every required member, whatever lines Loki pushes', () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 4 }),
        fc.dictionary(fc.constantFrom('a', 'level', '_msg'), fc.string(), { maxKeys: 2 }),
        (lines, stream) => {
          const values = lines.map((text, index) => [`179526960000000000${String(index)}`, text.toWellFormed()]);
          const texts = shown(loki, JSON.stringify({ streams: [{ stream, values }] }), { contentType: 'application/json' });
          expect(texts).to.have.length(lines.length);
          texts.forEach(isWhole);
        },
      ),
    );
    expect(
      shown(loki, '{"streams":[{"stream":{"a":"b"},"values":[["1795269600000000000",""]]}]}', { contentType: 'application/json' }),
    ).to.deep.equal(['{"_time":"2026-11-21T14:00:00Z","_stream":"{a=\\"b\\"}","_msg":"","a":"b"}']);
  });

  it('has every required member, whatever JSON and syslog bring', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 4 }), (objects) =>
        shown(jsonEntries, JSON.stringify(objects)).forEach(isWhole),
      ),
    );
    fc.assert(fc.property(line, (text) => shown(syslog, `<13>${text.toWellFormed()}\n`).forEach(isWhole)));
  });
});
