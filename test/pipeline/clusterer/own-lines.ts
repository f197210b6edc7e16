import { readFileSync } from 'node:fs';
import path from 'node:path';
import { sequence } from './generated-messages.ts';

const FILE = path.resolve(import.meta.dirname, '../../fixtures/clusters/templates.txt');
const LEVELS = ['INFO', 'WARN', 'ERROR', 'DEBUG'];
const WORDS = ['orders', 'users', 'carts', 'stock', 'mail', 'search'];
const NAMES = ['bob', 'alice', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];

export type OwnLine = { readonly line: string; readonly statement: string };

/** Lines of services of today, in the formats of `test/fixtures/clusters/templates.txt`, each with the statement that printed it. */
export function ownLines(count: number, seed = 6): OwnLine[] {
  const random = sequence(seed);
  const pick = (list: readonly string[]): string => list[random(list.length)] as string;
  const hex = (length: number): string => Array.from({ length }, () => random(16).toString(16)).join('');
  const two = (below: number): string => String(random(below)).padStart(2, '0');
  const clock = (): string => `${two(24)}:${two(60)}:${two(60)}`;
  const day = (): string => `2024-0${1 + random(9)}-1${random(9)}`;
  const VALUES: Readonly<Record<string, () => string>> = {
    iso: () => `${day()}T${clock()}.${100 + random(900)}`,
    date: day,
    gdate: () => day().replaceAll('-', '/'),
    clock,
    milli: () => String(100 + random(900)),
    klog: () => `I05${10 + random(20)} ${clock()}.123456    ${1 + random(9000)} shop.go:${1 + random(900)}]`,
    level: () => pick(LEVELS),
    svc: () => pick(WORDS),
    cls: () => pick(['Orders', 'Payments', 'Stock']),
    thread: () => `exec-${random(40)}`,
    method: () => pick(['GET', 'POST', 'DELETE']),
    path: () => `/api/v1/${pick(WORDS)}/${random(100_000)}`,
    status: () => pick(['200', '201', '404', '500']),
    ms: () => String(random(5000)),
    int: () => String(random(10_000_000)),
    small: () => String(random(50)),
    sec: () => (random(9000) / 1000).toFixed(3),
    port: () => String(1024 + random(60_000)),
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    id: () => `7${hex(9)}`,
    ip: () => `10.${random(255)}.${random(255)}.${random(255)}`,
    host: () => `${pick(WORDS)}-${random(20)}.prod.example.com`,
    key: () => `${pick(WORDS)}:${random(10_000)}`,
    file: () => `/var/data/${pick(WORDS)}/${hex(6)}.csv`,
    mail: () => `${pick(NAMES)}@example.com`,
    name: () => pick(NAMES),
    ver: () => `v1.${random(30)}.${random(10)}`,
  };
  const fill = (text: string): string => text.replace(/\{([a-z]+)\}/g, (_, name: string) => (VALUES[name] as () => string)());
  const statements: (readonly [string, string])[] = [];
  let head = '';
  for (const line of readFileSync(FILE, 'utf8').split('\n'))
    if (line.startsWith('# ')) head = line.replace(/^# \w+ /, '');
    else if (line !== '') statements.push([head, line]);
  return Array.from({ length: count }, (_, index) => {
    const [before, statement] = statements[index % statements.length] as readonly [string, string];
    return { line: fill(before + statement), statement: before + statement };
  });
}
