import { unquotePrefix } from '../base/lexer.ts';
import { checkParts } from '../base/memory.ts';
import type { PipeSpec } from '../base/types.ts';
import { parseUnpack } from './unpack.ts';

/** The pairs of `a=1 b="x y" flag`; a name alone is empty. What is glued to a quoted value ends the list. */
function readLogfmt(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let rest = text.trimStart();
  while (rest !== '') {
    checkParts(fields.size);
    const name = /^[^= ]*/.exec(rest)?.[0] ?? '';
    rest = rest.slice(name.length);
    if (!rest.startsWith('=')) {
      if (name !== '') fields.set(name, '');
      rest = rest.trimStart();
      continue;
    }
    const quoted = unquotePrefix(rest.slice(1));
    const value = quoted?.text ?? /^[^ ]*/.exec(rest.slice(1))?.[0] ?? '';
    fields.set(name, value);
    rest = rest.slice(1 + (quoted?.raw ?? value).length);
    if (quoted !== null && !rest.startsWith(' ')) break;
    rest = rest.trimStart();
  }
  return fields;
}

/** `unpack_logfmt`: the fields of a string such as `level=info msg="all good"`. */
export const unpackLogfmt: PipeSpec = {
  names: ['unpack_logfmt'],
  examples: [
    { query: '* | unpack_logfmt | fields a, b', input: [{ _msg: 'a=1 b="x \\"y" c' }], output: [{ a: '1', b: 'x "y' }] },
    { query: '* | unpack_logfmt | fields a, b, c', input: [{ _msg: 'a="1" b="2"c=3' }], output: [{ a: '1', b: '2' }] },
  ],
  parse: (parser) => parseUnpack(parser, 'unpack_logfmt', () => ({ unpack: readLogfmt, extra: '' })),
};
