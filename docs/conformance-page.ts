import type { Row, Section } from '../test/docs/conformance/row.ts';

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string;

/** A title in a cell: as code, without what would end the cell or the code. */
const shown = (title: string): string => `\`${title.replaceAll('`', "'").replaceAll('|', String.raw`\|`)}\``;

const heldBy = ({ tests, pending }: Row): string =>
  pending === undefined
    ? tests.map(({ file, title }) => `[${file.replace(/^test\//, '')}](../${file}): ${shown(title)}`).join('; ')
    : `**pending**: issue ${String(pending)}`;

const documentOf = (document: Section['document'], sections: readonly Section[], table: Table): string =>
  sections
    .filter((section) => section.document === document && section.rows.length > 0)
    .map(
      ({ heading, rows }) => `
### ${heading.replaceAll('`', '')}

${table(
  ['Statement', 'Held by'],
  rows.map((row) => [row.statement.replaceAll('|', String.raw`\|`), heldBy(row)]),
)}
`,
    )
    .join('');

/** The page of all that the contract says, with the tests that hold it. */
export function conformancePage(sections: readonly Section[], table: Table): string {
  const rows = sections.flatMap((section) => section.rows);
  const pending = rows.filter((row) => row.pending !== undefined);
  return `<!-- Made by \`npm run docs\` from test/docs/conformance; edit these files instead. -->

# Conformance

What the interface of the service promises to its clients, statement by statement, and the tests that hold it. A statement without a test
fails the build (\`test/docs/conformance.test.ts\`), and so does a line of the specification for which no statement stands here.
Here are ${String(rows.length)} statements; ${pending.length === 0 ? 'none is' : `${String(pending.length)} are`} pending.

## The interface
${documentOf('interface.md', sections, table)}
## What the interface leaves open
${documentOf('decisions.md', sections, table)}`;
}
