import { parseTime } from '../../pipeline/core/time.ts';
import { checkParts } from '../base/memory.ts';
import { momentText } from '../values/times.ts';
import { unquotePrefix } from '../base/lexer.ts';
import { duration } from '../filters/duration.ts';
import type { PipeSpec } from '../base/types.ts';
import { parseUnpack, type Unpack } from './unpack.ts';

const SEVERITIES = ['emerg', 'alert', 'critical', 'error', 'warning', 'notice', 'info', 'debug'];
const FACILITIES = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'security',
  'console',
  'solaris-cron',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const HEADER = /^(\S+) (\S+) (\S+) (\S+) (\S+) ?/;
const OLD_TIME = /^([A-Z][a-z]{2}) ([ 0-3][0-9]) ([0-9]{2}:[0-9]{2}:[0-9]{2}) /;

type Fields = Map<string, string>;

/** RFC 5424 and RFC 3164 messages. Times of the latter have neither year nor zone: this year, and `offset` (ns) from UTC. */
const readSyslog =
  (year: number, offset: bigint): Unpack =>
  (text) => {
    const fields: Fields = new Map();
    const priority = /^<([0-9]{1,3})>/.exec(text);
    const rest = priority === null ? text : text.slice(priority[0].length);
    if (priority !== null) setPriority(fields, Number(priority[1]));
    if (rest.startsWith('1 ')) readNew(fields, rest.slice(2));
    else readOld(fields, rest, year, offset);
    return fields;
  };

function setPriority(fields: Fields, priority: number): void {
  fields.set('priority', String(priority));
  fields.set('facility_keyword', FACILITIES[priority >> 3] ?? '');
  fields.set('level', SEVERITIES[priority & 7] ?? '');
  fields.set('facility', String(priority >> 3));
  fields.set('severity', String(priority & 7));
}

function readNew(fields: Fields, text: string): void {
  fields.set('format', 'rfc5424');
  const header = HEADER.exec(text);
  if (header === null) return;
  const [all, ...values] = header;
  for (const [index, name] of ['timestamp', 'hostname', 'app_name', 'proc_id', 'msg_id'].entries()) fields.set(name, values[index] ?? '');
  fields.set('message', readStructured(fields, text.slice(all.length)).trimStart());
}

/** `[id a="1" b="2"][…]` or `-`; gives what follows. */
function readStructured(fields: Fields, text: string): string {
  if (text.startsWith('-')) return text.slice(1);
  let rest = text;
  while (rest.startsWith('[')) {
    const id = /^\[([^ \]]*)/.exec(rest);
    rest = rest.slice(id?.[0].length ?? 1);
    for (let pair = /^ ([^= \]]+)=/.exec(rest); pair !== null; pair = /^ ([^= \]]+)=/.exec(rest)) {
      const quoted = unquotePrefix(rest.slice(pair[0].length));
      if (quoted === null) return rest;
      fields.set(`${id?.[1] ?? ''}.${pair[1] ?? ''}`, quoted.text);
      checkParts(fields.size);
      rest = rest.slice(pair[0].length + quoted.raw.length);
    }
    if (!rest.startsWith(']')) return rest;
    rest = rest.slice(1);
  }
  return rest;
}

function readOld(fields: Fields, text: string, year: number, offset: bigint): void {
  fields.set('format', 'rfc3164');
  const stamp = OLD_TIME.exec(text);
  const month = MONTHS.indexOf(stamp?.[1] ?? '') + 1;
  if (stamp === null || month === 0) {
    fields.set('message', text);
    return;
  }
  const time = parseTime(`${String(year)}-${String(month).padStart(2, '0')}-${(stamp[2] ?? '').replace(' ', '0')}T${stamp[3] ?? ''}Z`);
  if (time !== null) fields.set('timestamp', momentText(time - offset));
  const [, host = '', tail = ''] = /^(\S*) ?([^]*)$/.exec(text.slice(stamp[0].length)) ?? [];
  fields.set('hostname', host);
  const tag = /^([^\s:[]+)(?:\[([^\]]*)\])?: ?/.exec(tail);
  if (tag?.[1] !== undefined) fields.set('app_name', tag[1]);
  if (tag?.[2] !== undefined) fields.set('proc_id', tag[2]);
  fields.set('message', tail.slice(tag?.[0].length ?? 0));
}

/** `unpack_syslog [offset 2h]`: priority, facility, severity, level, time, host, application and message of a syslog line. */
export const unpackSyslog: PipeSpec = {
  names: ['unpack_syslog'],
  examples: [
    {
      query: '* | unpack_syslog | fields hostname, app_name, level, message, "x@1.k"',
      input: [{ _msg: '<34>1 2003-10-11T22:14:15.003Z host su - ID47 [x@1 k="v"] su root failed' }],
      output: [{ hostname: 'host', app_name: 'su', level: 'critical', message: 'su root failed', 'x@1.k': 'v' }],
    },
  ],
  parse: (parser) =>
    parseUnpack(parser, 'unpack_syslog', ({ lexer, now }) => {
      const year = new Date(Number(now / 1_000_000n)).getUTCFullYear();
      if (!lexer.accept('offset')) return { unpack: readSyslog(year, 0n), extra: '' };
      const { length, text } = duration(lexer, true);
      return { unpack: readSyslog(year, length), extra: ` offset ${text}` };
    }),
};
