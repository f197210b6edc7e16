import { expect } from 'chai';
import fc from 'fast-check';
import { flattenJson } from '../../../logsql/base/json.ts';
import { jsonField } from '../../../logsql/sql/json.ts';
import { Layers } from '../../../logsql/sql/layers.ts';
import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { or } from '../../../logsql/sql/text.ts';
import type { RowInput } from '../../../logsql/base/types.ts';
import { join, sql, uint32, type Sql } from '../../../pipeline/core/sql.ts';
import { EVERYTHING, entryOf } from '../../logsql/support.ts';
import { extent } from '../../extent.ts';
import { LogsqlStore } from '../logsql-store.ts';

const NAMES = ['a', 'b', 'a.b', 'a.b.c', 'b.a', 'é', '', '.', 'a.', '[', 'constructor', ':'];

/** What SQL says of a field: its text, or null where that is in doubt. */
type Found = string | null;

describe('fields of JSON in SQL', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let tenants = 0;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  /** The fields of each text, by NAMES. */
  async function find(texts: readonly string[]): Promise<readonly (readonly Found[])[]> {
    const tenantId = (tenants += 1);
    await own.insert(
      tenantId,
      texts.map((text) => entryOf({ _time: '2026-11-18T10:00:00Z', _stream: '{}', _msg: text })),
    );
    const layers = new Layers('c');
    const columns = NAMES.flatMap((name) => {
      const doubts: Sql[] = [];
      const input: RowInput = {
        context: { table: LOGS, tenantId, firstDay: '1970-01-01', lastDay: '2149-06-06', indexed: false },
        run: EVERYTHING,
        text: (field) => LOGS.text(field),
        name: (expression) => layers.name(expression),
        doubt: (rows) => doubts.push(layers.name(rows)),
      };
      const value = jsonField(sql`_msg`, name, input) ?? sql`'none'`;
      return [sql`${or(doubts)} > 0`, value];
    });
    const source = layers.over(sql`logs WHERE tenant_id = ${uint32(tenantId)}`, LOGS);
    const statement = sql`SELECT ${join(columns, sql`, `)} FROM ${source} ORDER BY kafka_idx`;
    const rows = await own.store.rows(statement, { tenantId, timeoutMs: 60_000 });
    return rows.map((row) => NAMES.map((_name, index) => (Number(row[2 * index]) > 0 ? null : String(row[2 * index + 1]))));
  }
  /** Compares all fields of objects that are not in doubt; how many these are of each object. */
  async function agree(texts: readonly string[]): Promise<readonly number[]> {
    const found = await find(texts);
    expect(found).to.have.length(texts.length);
    return found.map((fields, index) => {
      const text = texts[index] ?? '';
      const expected = flattenJson(text) ?? new Map<string, string>();
      const wanted = NAMES.map((name, place) => (fields[place] === null ? null : (expected.get(name) ?? '')));
      expect(fields, text).to.deep.equal(wanted);
      return fields.filter((field) => field !== null).length;
    });
  }

  it('are those of memory, for objects as logs have them', async () => {
    const texts = [
      '{}',
      '{ }',
      '{"a":1.50,"b":-0,"a.b":1e400}',
      '{"a":18446744073709551616,"b":1E+5}',
      '{"a" : "x" ,\n\t"b":\r[ 1 , "a  b" , [ true,null ] ] }  ',
      '{"x":{"a":1,"b":"}"},"a":{"b":{"c":"deep","b":5}},"b":"{\\"a\\":1}"}',
      '{"a":{"z":"x","z":"y","b":"z"},"b":{"a":[]}}',
      '{"a.b":"x","a":{"c":1}}',
      '{"a":{"b.c":"x"}}',
      '{"a.b":{"c":"x"},"b":""}',
      '{"a.b.c":"x"}',
      '{"a":"\\"b\\":1","b":"\\\\","é":"\\u00e9\\u003c\\n\\/\\\\n"}',
      '{"b":"\\\\\\"a\\\\\\":1, ","a":["\\n\\"\\\\","é"]}',
      '{"":1,"x":{"":2,"a":3}}',
      '{"":{"":"dot"},"a":{"":"x"}}',
      '{"[":"[","constructor":"{","b":["]","}"],":":":"}',
      '{"x":[{"a":1},{"a":2,"b":[3]}],"b":true}',
      '{"a":"😀","b":"\u0085\u2028"}',
    ];
    expect(await agree(texts)).to.deep.equal(texts.map(() => NAMES.length));
    // of equal names that hold others
    const twice = ['{"a":"x","a":"y","b":null}', '{"a":"x","a":null}', '{"a":"x","a":{"z":1}}'];
    expect(await agree(twice)).to.deep.equal(twice.map(() => NAMES.length - 3));
  });

  it('are in doubt where a text is no JSON, too deep, or where names or escapes are not plain', async () => {
    const texts = [
      '{',
      '{"a":1',
      '{"a":1}x',
      '{"a":01}',
      '{"a":1,}',
      '{a:1}',
      '{"a":"\n"}',
      '{"a":"\\x"}',
      '{"a":[1}}',
      '{"a":[1 2]}',
      '{"a":[[[[1]]]]}',
      '{"\\u0061":1}',
      '{"a":"\\ud83d\\ude00"}',
      '{"a":[{"b":1,"b":2}]}',
      '{"a":["\\u00e9"]}',
      '{"a":{"b":1},"a":{"c":2}}',
      '{"a":{"b":1},"a":5}',
      '{"a":{"b":1},"a.b":2}',
      '{"a":{"b":{"c":1},"b":2}}',
    ];
    for (const [index, fields] of (await find(texts)).entries()) expect(fields, texts[index]).to.include(null);
    const others = ['text', '', ' {"a":1}', '[{"a":1}]', '"a"'];
    for (const [index, fields] of (await find(others)).entries()) expect(fields, others[index]).to.not.include(null);
  });

  it('are those of memory, or in doubt, for any text', async () => {
    const space = fc.constantFrom('', '', '', '', ' ', '\n ', '\t');
    const string = fc
      .array(fc.constantFrom('a', 'b', 'é', '😀', ' ', '{', '}', '[', ']', ':', ',', '.', '\\"', '\\\\', '\\n', '\\u00e9', '\\/'), {
        maxLength: 5,
      })
      .map((parts) => `"${parts.join('')}"`);
    const name = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...NAMES.map((each) => JSON.stringify(each))) },
      { weight: 1, arbitrary: string },
    );
    const scalar = fc.oneof(string, fc.constantFrom('0', '-0', '1.50', '1e5', '12345678901234567890', 'true', 'null', '-1.5E-3'));
    const { value } = fc.letrec<{ value: string; object: string }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        scalar,
        tie('object'),
        fc
          .tuple(
            space,
            fc.array(
              fc.tuple(tie('value'), space).map((parts) => parts.join('')),
              { maxLength: 3 },
            ),
          )
          .map(([gap, parts]) => `[${gap}${parts.join(`,${gap}`)}]`),
      ),
      object: fc
        .array(
          fc.tuple(space, name, space, space, tie('value')).map(([before, key, after, gap, of]) => `${before}${key}${after}:${gap}${of}`),
          { maxLength: 4 },
        )
        .map((parts) => `{${parts.join(',')}}`),
    }));
    const damaged = fc.tuple(value, fc.nat(), fc.constantFrom('', '"', ',', '}', '{', ':', '\\', '1')).map(([text, at, by]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + by + text.slice(place + 1);
    });
    const texts = fc.sample(fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: damaged }), {
      numRuns: extent(8000, 200_000),
      seed: 14,
    });
    const objects = [...new Set(texts.filter((text) => text.startsWith('{') && text.isWellFormed()))];
    let compared = 0;
    for (let at = 0; at < objects.length; at += 5000) for (const fields of await agree(objects.slice(at, at + 5000))) compared += fields;
    expect(compared).to.be.above((objects.length * NAMES.length) / 2);
  });
});
