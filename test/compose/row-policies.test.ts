import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Every table that has rows of tenants. */
const tables = readdirSync(new URL('../../pipeline/store/schema', import.meta.url)).flatMap((name) => {
  const text = read(`pipeline/store/schema/${name}`);
  const [, table] = /CREATE TABLE IF NOT EXISTS (\w+)/.exec(text) ?? [];
  return table !== undefined && /^ {2}tenant_id /m.test(text) ? [table] : [];
});

describe('the second wall between tenants', () => {
  it('stands before every table that has rows of tenants', () => {
    const users = read('compose/embedded/users.xml');
    expect(tables).to.include.members(['logs', 'alerts', 'patterns']);
    for (const table of tables)
      expect(users).to.include(`<${table}><filter>tenant_id = toUInt32OrZero(getSetting('log_comment'))</filter></${table}>`);
  });

  it('is documented for every one of them', () => {
    const page = read('docs/operations.md');
    for (const table of tables) {
      expect(page, table).to.include(`GRANT SELECT ON logweir.${table} TO logweir_reader;`);
      for (const policy of ['logweir_reads', 'logweir_tenant', 'logweir_owns'])
        expect(page).to.match(new RegExp(`CREATE ROW POLICY ${policy} ON [^\\n;]*logweir\\.${table}\\b`));
    }
  });
});
