import { countCharacters } from './characters.ts';

/** Bytes of a message that the masks read; what follows is not part of its template. */
export const MAX_MESSAGE = 4096;
/** Bytes of a template. */
export const MAX_TEXT = 1024;

/** Characters of the longest atom that counts as a word; a longer one is an id, with or without digits. */
const LONGEST_WORD = 64;

/** Whether an atom has more characters than a word. */
export const isLong = (bytes: Uint8Array, from: number, to: number): boolean =>
  to - from > LONGEST_WORD && countCharacters(bytes, from, to) > LONGEST_WORD;

/** Words with a digit that name a protocol, an algorithm or a format: as constant as any other word. */
export const KEPT_WORDS: readonly string[] = [
  ...[
    'HTTP/1.0',
    'HTTP/1.1',
    'HTTP/2',
    'HTTP/2.0',
    'HTTP/3',
    'h2',
    'h2c',
    'ssh2',
    'SSH-2.0',
    'SOCKS4',
    'SOCKS5',
    'IPv4',
    'IPv6',
    'ipv4',
    'ipv6',
  ],
  ...[
    'UTF-8',
    'utf-8',
    'UTF8',
    'utf8',
    'ISO-8859-1',
    'ISO8601',
    'base64',
    'Base64',
    'MD5',
    'md5',
    'SHA1',
    'sha1',
    'SHA256',
    'sha256',
    'SHA-256',
  ],
  ...[
    'x86',
    'x86_64',
    'amd64',
    'arm64',
    'i386',
    'log4j',
    'slf4j',
    'OAuth2',
    'oauth2',
    'S3',
    's3',
    'EC2',
    'ec2',
    'k8s',
    'K8s',
    'ext4',
    'Log4j',
  ],
  ...[
    'TLSv1.2',
    'TLSv1.3',
    'TLS1.2',
    'TLS1.3',
    'X509',
    'x509',
    'HTTP2',
    'http2',
    'HTTP1',
    'gzip',
    'lz4',
    'H2',
    'UTF-16',
    'UTF-16LE',
    'p50',
    'p90',
    'p95',
    'p99',
  ],
];

/** Words that stand where a value stands. */
export const NO_VALUES: readonly string[] = ['true', 'false', 'True', 'False', 'TRUE', 'FALSE', 'null', 'NULL', 'nil', 'None', 'undefined'];

/** Units that follow a number and change with its size. */
export const UNITS: readonly string[] = [
  ...['B', 'bytes', 'byte', 'Bytes', 'KB', 'kB', 'KiB', 'MB', 'MiB', 'GB', 'GiB', 'TB', 'TiB', 'PB'],
  ...['ns', 'us', 'ms', 's', 'sec', 'secs', 'min', 'mins', 'h', 'hrs'],
];

export const MONTHS_AND_DAYS: readonly string[] = [
  ...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
  ...['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'],
];

/** What may follow a time. */
export const ZONES: readonly string[] = [
  ...['UTC', 'GMT', 'Z', 'AM', 'PM', 'EST', 'EDT', 'CST', 'CDT', 'MST', 'MDT', 'PST', 'PDT', 'CET', 'CEST', 'BST', 'IST', 'JST'],
];

/** Keys whose value is the message itself, or what it is about: `msg="…"` and `"msg": "…"` are read as a message. */
export const TEXT_KEYS: readonly string[] = [
  'msg',
  'message',
  'error',
  'err',
  'event',
  'level',
  'lvl',
  'severity',
  'log',
  'status',
  'method',
];

/** What ends a source file's name: `server.go:12` is not a host with a port. */
export const SOURCES: readonly string[] = [
  ...[
    'go',
    'js',
    'ts',
    'mjs',
    'cjs',
    'jsx',
    'tsx',
    'py',
    'rb',
    'rs',
    'cc',
    'cpp',
    'cxx',
    'hpp',
    'hh',
    'java',
    'kt',
    'scala',
    'cs',
    'php',
    'swift',
    'erl',
    'ex',
  ],
];

/** Words before `user`, after which a user's name follows. */
export const BEFORE_USER: readonly string[] = ['for', 'invalid', 'Invalid', 'by', 'from', 'as', 'of', 'illegal'];

/** Words behind which `::` is an address: `listening on ::`. */
export const BEFORE_ADDRESS: readonly string[] = [
  ...['on', 'at', 'to', 'from', 'by', 'via', 'of', 'for', 'peer', 'Peer', 'host', 'Host', 'client', 'Client', 'server', 'Server', 'node'],
  ...['address', 'Address', 'addr', 'Addr', 'ip', 'IP', 'ipv6', 'IPv6', 'bind', 'bound', 'listen', 'listening', 'Listening', 'Listen'],
  ...['source', 'src', 'destination', 'dest', 'dst', 'remote', 'local', 'route', 'gateway', 'neighbor', 'interface', 'ping', 'with'],
];

/** The largest end at or before `end` that cuts no UTF-8 character, where the bytes are UTF-8. */
export function wholeCharacters(bytes: Uint8Array, end: number): number {
  if (end >= bytes.length) return bytes.length;
  let at = end;
  while (at > end - 4 && at > 0 && ((bytes[at] as number) & 0xc0) === 0x80) at -= 1;
  return ((bytes[at] as number) & 0xc0) === 0x80 ? end : at;
}
