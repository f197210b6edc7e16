import { sql } from '../../pipeline/core/sql.ts';
import { flattenJson } from '../base/json.ts';
import { jsonField } from '../sql/json.ts';
import type { PipeSpec } from '../base/types.ts';
import { parseUnpack, type UnpackSql } from './unpack.ts';

const SQL: UnpackSql = { isForm: (text) => sql`startsWith(${text}, '{')`, field: jsonField };

/** `unpack_json`: the fields of a JSON object, nested ones with dots. */
export const unpackJson: PipeSpec = {
  names: ['unpack_json'],
  examples: [
    {
      query: '* | unpack_json | fields a, b.c',
      input: [{ _msg: '{"a":1.50,"b":{"c":[1,"x"]}}' }],
      output: [{ a: '1.50', 'b.c': '[1,"x"]' }],
    },
    {
      query: '* | unpack_json fields (a) result_prefix "j."',
      input: [{ _msg: '{"a":"1","b":2}' }],
      output: [{ _msg: '{"a":"1","b":2}', 'j.a': '1' }],
    },
    {
      query: '* | unpack_json j fields (a, c) | fields a, b, c',
      input: [
        { j: '{"a":"1","b":2}', a: 'x', b: 'y', c: 'z' },
        { j: '{"a":', a: 'x', b: 'y', c: 'z' },
        { j: 'text', a: 'x', b: 'y', c: 'z' },
      ],
      output: [{ a: '1', b: 'y' }, { b: 'y' }, { a: 'x', b: 'y', c: 'z' }],
    },
  ],
  parse: (parser) => parseUnpack(parser, 'unpack_json', () => ({ unpack: flattenJson, extra: '', sql: SQL })),
};
