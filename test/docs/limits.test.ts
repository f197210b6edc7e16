import { expect } from 'chai';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { LIMITS, NOT_OF_TENANTS } from '../../docs/limits.ts';
import { namesOf, valueOf } from '../../docs/limits/constants.ts';
import { figureOf } from '../../docs/limits/figure.ts';
import { ATTACKS } from '../hostile/attacks.ts';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const rows = LIMITS.flatMap((section) => section.rows);
const nameOf = ({ file, name, index }: (typeof rows)[number]['bound'][number]): string =>
  `${file} ${name}${index === undefined ? '' : ` ${String(index)}`}`;
const constantOf = ({ file, name }: { readonly file: string; readonly name: string }): string => `${file} ${name}`;
const repeated = (names: readonly string[]): string[] => names.filter((name, place) => names.indexOf(name) !== place);

/** Where whoever adds a bound has to decide whether it is one of tenants. */
const FOLDERS = [
  ...['api/limits', 'api/http', 'api/live', 'api/engine', 'api/control', 'api/ingest', 'api/doors'],
  ...['pipeline/alerting', 'pipeline/logs', 'pipeline/traces', 'pipeline/rows', 'pipeline/bus', 'pipeline/processors', 'sinks', 'promql'],
];
const isBound = (name: string): boolean => /^(?:MAX|MOST)(?:_|$)/.test(name);

/** All constants of these folders that are named as bounds are. */
const bounds = FOLDERS.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => namesOf(read(`${folder}/${file}`)).map((name) => ({ file: `${folder}/${file}`, name }))),
)
  .filter(({ name }) => isBound(name))
  .map(constantOf);

const others = NOT_OF_TENANTS.flatMap(({ constants }) =>
  Object.entries(constants).flatMap(([file, names]) => names.map((name) => constantOf({ file, name }))),
);

describe('the limits', () => {
  it('have an attack or a test each, which exist', () => {
    const attacks = new Set(ATTACKS.map(({ name }) => name));
    for (const { what, attack = [], test } of rows) {
      expect(attack.length + (test === undefined ? 0 : 1), what).to.be.above(0);
      expect(
        attack.filter((name) => !attacks.has(name)),
        what,
      ).to.deep.equal([]);
      if (test !== undefined) expect(/^test\/.*\.test\.ts$/.test(test) && existsSync(path.join(root, test)), test).to.equal(true);
    }
  });

  it('have a figure each, or say who sets it, and no constant twice', () => {
    for (const { what, bound, by } of rows) {
      expect(bound.length > 0 || by !== undefined, what).to.equal(true);
      expect(repeated(bound.map(nameOf)), what).to.deep.equal([]);
    }
  });

  it('have constants that are found, above zero', () => {
    for (const constant of rows.flatMap(({ bound }) => bound)) expect(valueOf(constant), nameOf(constant)).to.be.above(0);
  });

  it('have a section each, with a title of its own', () => {
    expect(repeated(LIMITS.map(({ title }) => title))).to.deep.equal([]);
    for (const { title, rows: own } of LIMITS) expect(own.length, title).to.be.above(0);
  });

  it('are all bounds that there are, but those that bound no tenant', () => {
    const listed = new Set([...rows.flatMap(({ bound }) => bound).map(constantOf), ...others]);
    expect(bounds.filter((constant) => !listed.has(constant))).to.deep.equal([]);
  });

  it('are none of those that bound no tenant, each of which exists, once', () => {
    const listed = new Set(rows.flatMap(({ bound }) => bound).map(constantOf));
    expect(others.filter((constant) => listed.has(constant))).to.deep.equal([]);
    expect(others.filter((constant) => !bounds.includes(constant))).to.deep.equal([]);
    expect(repeated(others)).to.deep.equal([]);
  });
});

describe('constants that are read from their source', () => {
  const FOUND: readonly (readonly [file: string, name: string, index: number | string | undefined, value: number])[] = [
    ['api/http/bodies-in-flight.ts', 'MAX_BYTES', undefined, 134_217_728],
    ['api/http/bodies-in-flight.ts', 'SLOW_MS', undefined, 2000],
    ['api/live/unsent-share.ts', 'MOST_OF_SLOW', 1, 16_384],
    ['pipeline/alerting/announcements/outbox.ts', 'MOST_OF_TENANT', 'bytes', 4_000_000],
    ['pipeline/alerting/streams/alerting.ts', 'BOUNDS', 'patterns.ofTenant', 1.2 * 1024 * 1024],
    ['pipeline/processors/rules/tenant-counts.ts', 'BUDGET', undefined, 1e9],
    ['pipeline/processors/volume/segment.ts', 'EXCESSIVE_SHARE', undefined, 1 / 64],
    ['api/limits/call-rate.ts', 'keep', undefined, 10_000],
  ];
  for (const [file, name, index, value] of FOUND)
    it(`are numbers: ${name} of ${file}`, () => {
      expect(valueOf({ file, name, unit: '', ...(index === undefined ? {} : { index }) })).to.equal(value);
    });

  const WRONG: readonly (readonly [fault: string, name: string, index?: string])[] = [
    ['there is no such constant', 'NOTHING'],
    ['is not an expression of numbers', 'LIMITS'],
    ['it has no part nothing', 'LIMITS', 'nothing'],
    ['it has no parts', 'MAX_CONNECTIONS', 'nothing'],
    ['is not an expression of numbers', 'PARSER_ERRORS', 'HPE_HEADER_OVERFLOW'],
  ];
  for (const [fault, name, index] of WRONG)
    it(`are named with their file where ${fault}: ${name}`, () => {
      const constant = { file: 'api/http/http-server.ts', name, unit: '', ...(index === undefined ? {} : { index }) };
      expect(() => valueOf(constant))
        .to.throw(Error, fault)
        .with.property('message')
        .that.matches(new RegExp(`^api/http/http-server.ts: ${name}`));
    });

  it('are found by name wherever they are declared', () => {
    const source = `const A = 1; // const B = 2\nconst [C, D]: number[] = [3, 4];\nconst { E, f: G } = { E: 'const H = 5;', f: 6 };`;
    expect(namesOf(source)).to.deep.equal(['A', 'C', 'D', 'E', 'G']);
  });
});

describe('figures', () => {
  const SHOWN: readonly (readonly [value: number, unit: string, shown: string])[] = [
    [64 * 1024 * 1024, 'bytes', '64 MiB'],
    [1.2 * 1024 * 1024, 'bytes of a tenant', '1.2 MiB of a tenant'],
    [4_000_000, 'bytes', '4 MB'],
    [64_000_000, 'bytes', '64 MB'],
    [1_000_000_000, 'bytes', '1 GB'],
    [16_384, 'bytes', '16 KiB'],
    [24, 'bytes', '24 bytes'],
    [2500, 'ms', '2.5 s'],
    [250, 'ms', '250 ms'],
    [60_000, 'ms', '1 min'],
    [86_400_000, 'ms', '24 h'],
    [172_800, 's', '2 days'],
    [10_000_000, 'us', '10 s'],
    [1e9, 'ns', '1 s'],
    [4, 'part', '1/4'],
    [1 / 64, 'part', '1/64'],
    [0.6, 'part of all', '60 % of all'],
    [12_000, 'KiB', '12,000 KiB'],
    [20_000, '', '20,000'],
    [100, 'reasons', '100 reasons'],
  ];
  for (const [value, unit, shown] of SHOWN)
    it(`are shown with their unit: ${shown}`, () => {
      expect(figureOf(value, unit)).to.equal(shown);
    });
});
