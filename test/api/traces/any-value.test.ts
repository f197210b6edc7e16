import { expect } from 'chai';
import { anyValueOf, attributesJson } from '../../../api/traces/any-value.ts';

describe('values of attributes', () => {
  const VALUES: readonly (readonly [type: string, text: string, value: object])[] = [
    ['s', 'a"\n\u0000', { stringValue: 'a"\n\u0000' }],
    ['?', 'unknown types are strings', { stringValue: 'unknown types are strings' }],
    ['b', 'true', { boolValue: true }],
    ['b', 'false', { boolValue: false }],
    ['i', '-9223372036854775808', { intValue: '-9223372036854775808' }],
    ['d', '1.5', { doubleValue: 1.5 }],
    ['d', '1e300', { doubleValue: 1e300 }],
    ['d', 'NaN', { doubleValue: 'NaN' }],
    ['d', '-Infinity', { doubleValue: '-Infinity' }],
    ['d', '"},{', { doubleValue: 0 }],
    ['y', 'AQI=', { bytesValue: 'AQI=' }],
    ['n', '', {}],
    ['v', '[]', { arrayValue: { values: [] } }],
    ['v', '{}', { kvlistValue: { values: [] } }],
    ['v', '[1,1.0,1e2,-9223372036854775808]', { arrayValue: { values: [{ intValue: '1' }, { doubleValue: 1 }, { doubleValue: 100 }, { intValue: '-9223372036854775808' }] } }], // prettier-ignore
    [
      'v',
      '["a,[{\\"","\\\\",true,null]',
      { arrayValue: { values: [{ stringValue: 'a,[{"' }, { stringValue: '\\' }, { boolValue: true }, {}] } },
    ],
    ['v', '{"2":[{"a":false},[]],"1":{"x":"y"},"2":null}', { kvlistValue: { values: [{ key: '2', value: { arrayValue: { values: [{ kvlistValue: { values: [{ key: 'a', value: { boolValue: false } }] } }, { arrayValue: { values: [] } }] } } }, { key: '1', value: { kvlistValue: { values: [{ key: 'x', value: { stringValue: 'y' } }] } } }, { key: '2', value: {} }] } }], // prettier-ignore
    ['v', '{"broken', {}],
    ['o', '{"arrayValue":{"values":[{"bytesValue":"AQ=="}]}}', { arrayValue: { values: [{ bytesValue: 'AQ==' }] } }],
    ['o', '}', {}],
  ];
  for (const [type, text, value] of VALUES)
    it(`${type} ${JSON.stringify(text)}`, () => {
      expect(anyValueOf(text, type)).to.deep.equal(value);
    });

  it('are written in their order, with names that are numbers or come twice', () => {
    const pairs = [['b', '1'], ['1', '2'], ['b', '3']] as const; // prettier-ignore
    expect(attributesJson({ pairs, types: 'si' })).to.equal(
      '[{"key":"b","value":{"stringValue":"1"}},{"key":"1","value":{"intValue":"2"}},{"key":"b","value":{"stringValue":"3"}}]',
    );
  });
});
