import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { SECTIONS } from './conformance/index.ts';
import type { Row, Section } from './conformance/row.ts';
import { casesOf, titlesOf } from './titles.ts';

const root = path.resolve(import.meta.dirname, '../..');
const specification = path.resolve(root, process.env['LOGWEIR_SHARED'] ?? '../shared', 'spec');
const sources = new Map<string, string>();

/** Whether a source has a test with these words in its title, or a case of exactly this name. */
const hasTest = (source: string, title: string): boolean =>
  title !== '' && (titlesOf(source).some((own) => own.includes(title)) || casesOf(source).includes(title));

/** What is wrong with a row: without a test, a test without a file, or a title that is not there. */
function faultOf({ line, tests, pending }: Row): string | null {
  if (line === '' || line.length > 60) return 'the quote has 1 to 60 characters';
  if (pending !== undefined) return tests.length === 0 && pending > 0 ? null : 'what is pending has no test, but an issue';
  if (tests.length === 0) return 'no test holds it';
  for (const { file, title } of tests) {
    if (!/^test\/.*\.test\.ts$/.test(file) || !existsSync(path.join(root, file))) return `there is no test file ${file}`;
    const source = sources.get(file) ?? readFileSync(path.join(root, file), 'utf8');
    sources.set(file, source);
    if (!hasTest(source, title)) return `${file} has no test "${title}"`;
  }
  return null;
}

/** The lines under each heading that state something: all but the heads of tables. Those that only say "not shown" are decided elsewhere. */
function linesOf(text: string): Map<string, readonly string[]> {
  const sections = new Map<string, string[]>();
  let current: string[] = [];
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const heading = /^#+ (.*)$/.exec(line)?.[1];
    if (heading !== undefined) sections.set(heading, (current = []));
    else if (line.trim() !== '' && !/^\s*\|[-|]+\|$/.test(line) && !/^\s*\|-/.test(lines[index + 1] ?? '')) current.push(line);
  }
  return sections;
}

/** Lines that no row quotes, quotes that no line has or several have, and headings that are not there. */
function gapsOf(text: string, sections: readonly Section[]): string[] {
  const gaps: string[] = [];
  const lines = linesOf(text);
  for (const { heading } of sections) if (!lines.has(heading)) gaps.push(`there is no heading "${heading}"`);
  for (const [heading, own] of lines) {
    const here = sections.filter((section) => section.heading === heading);
    const quotes = here.flatMap(({ rows, remarks = [] }) => [...rows, ...remarks].map(({ line }) => line));
    for (const quote of new Set(quotes)) {
      const found = own.filter((line) => line.includes(quote)).length;
      if (found !== 1) gaps.push(`"${quote}" is in ${String(found)} lines under "${heading}"`);
    }
    for (const line of own)
      if (!quotes.some((quote) => line.includes(quote))) gaps.push(`no row quotes, under "${heading}": ${line.slice(0, 90)}`);
  }
  return gaps;
}

describe('the contract', () => {
  for (const { document, heading, rows } of SECTIONS)
    for (const row of rows) it(`is held by a test: ${document}, ${heading}: ${row.statement}`, () => expect(faultOf(row)).to.equal(null));

  it('has each statement and each heading once', () => {
    const statements = SECTIONS.flatMap(({ document, rows }) => rows.map(({ statement }) => `${document} ${statement}`));
    expect(statements.filter((statement, place) => statements.indexOf(statement) !== place)).to.deep.equal([]);
    const headings = SECTIONS.map(({ document, heading }) => `${document} ${heading}`);
    expect(headings.filter((heading, place) => headings.indexOf(heading) !== place)).to.deep.equal([]);
  });

  for (const document of ['interface.md', 'decisions.md'] as const)
    it(`has a row for each line of ${document}, where the specification lies beside the clone`, function () {
      const file = path.join(specification, document);
      if (!existsSync(file)) this.skip();
      const sections = SECTIONS.filter((section) => section.document === document);
      expect(gapsOf(readFileSync(file, 'utf8'), sections)).to.deep.equal([]);
    });

  const good: Row = { line: 'x', statement: '', tests: [{ file: 'test/docs/rooms.test.ts', title: 'so there is no circle' }] };
  const bad: readonly (readonly [string, Partial<Row>])[] = [
    ['no test holds it', { tests: [] }],
    ['there is no test file test/nowhere.test.ts', { tests: [{ file: 'test/nowhere.test.ts', title: 'x' }] }],
    ['test/docs/rooms.test.ts has no test "of nothing"', { tests: [{ file: 'test/docs/rooms.test.ts', title: 'of nothing' }] }],
    ['test/docs/rooms.test.ts has no test ""', { tests: [{ file: 'test/docs/rooms.test.ts', title: '' }] }],
    ['the quote has 1 to 60 characters', { line: 'x'.repeat(61) }],
    ['what is pending has no test, but an issue', { pending: 40 }],
  ];
  for (const [fault, part] of bad)
    it(`is found out where ${fault}`, () => expect([faultOf(good), faultOf({ ...good, ...part })]).to.deep.equal([null, fault]));

  it('is found out where a line, a quote or a heading is missing', () => {
    const text = '# A\nfirst line\n\n| Head |\n|---|\n| cell |\n\n## B\n- bullet one\n- bullet two\n';
    const section = (heading: string, ...quotes: string[]): Section => ({
      document: 'interface.md',
      heading,
      rows: quotes.map((line) => ({ ...good, line })),
    });
    expect(gapsOf(text, [section('A', 'first', 'cell'), section('B', 'one', 'two')])).to.deep.equal([]);
    expect(gapsOf(text, [section('A', 'first'), section('B', 'bullet', 'none'), section('C')])).to.deep.equal([
      'there is no heading "C"',
      'no row quotes, under "A": | cell |',
      '"bullet" is in 2 lines under "B"',
      '"none" is in 0 lines under "B"',
    ]);
  });
});
