import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Store } from '../../../pipeline/store/client.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';

type Ready = { readonly status: string; readonly failing: readonly string[]; readonly warnings: readonly string[] };

/** What is done to ClickHouse, how it is undone, and what `/ready` says of it. */
const FAULTS: readonly (readonly [about: string, done: string, undone: string, warning: RegExp])[] = [
  [
    'a table that is read-only',
    'ALTER TABLE logs MODIFY SETTING table_readonly = 1',
    'ALTER TABLE logs MODIFY SETTING table_readonly = 0',
    /takes no inserts into logs since \S+: the table is read-only: TABLE_IS_PERMANENTLY_READ_ONLY \(774\)\.$/,
  ],
  [
    'a disk with less free than it must have',
    'ALTER TABLE logs MODIFY SETTING min_free_disk_ratio_to_perform_insert = 1',
    'ALTER TABLE logs MODIFY SETTING min_free_disk_ratio_to_perform_insert = 0.05',
    /takes no inserts into logs since \S+: its disk is full: NOT_ENOUGH_SPACE \(243\)\.$/,
  ],
  [
    'a table that is missing',
    'RENAME TABLE logs TO logs_elsewhere',
    'RENAME TABLE logs_elsewhere TO logs',
    /takes no inserts into logs since \S+: the table is missing: UNKNOWN_TABLE \(60\)\.$/,
  ],
];

describe('what operators see where ClickHouse takes no inserts', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  let owner: Store;
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
    const read = (...file: string[]): string => readFileSync(path.join(instance.dataDir, ...file), 'utf8').trim();
    const { password } = JSON.parse(read('clickhouse', 'secrets.json')) as { password: string };
    const user = { user: 'logweir', password, readerUser: 'logweir', readerPassword: password };
    owner = new Store({ url: read('clickhouse', 'url'), database: 'logweir', ...user });
  });
  after(() => owner.close());

  const auth = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  const warningsNow = async (): Promise<readonly string[]> => {
    const { status, body } = await instance.call('GET', `${instance.admin}/ready`);
    expect(status).to.equal(200);
    return (body as Ready).warnings;
  };
  const failing = async (): Promise<string> => {
    const { body } = await instance.call('GET', `${instance.admin}/metrics`);
    return /logweir_failing_inserts\{[^}]*table="logs"[^}]*\} (\d)/.exec(String(body))?.[1] ?? 'absent';
  };
  const ingest = async (message: string): Promise<number> =>
    (await instance.call('POST', `${instance.ingest}/api/v1/ingest`, { _msg: message }, auth())).status;
  const found = async (message: string): Promise<number> => {
    const asked = { query: `_msg:="${message}"`, start: '-1h', limit: 10 };
    const { body } = await instance.call('POST', `${instance.app}/api/v1/tenants/${String(tenant.id)}/search`, asked, auth());
    return (body as { count?: number }).count ?? -1;
  };

  for (const [about, done, undone, warning] of FAULTS)
    it(`${about}: a warning and a metric, ingest goes on, and what it took is stored once`, async () => {
      await owner.command(done);
      try {
        expect(await ingest(about)).to.equal(200);
        const [sentence] = await until('the warning', warningsNow, (warnings) => warnings.some((one) => warning.test(one)));
        expect(sentence).to.match(/^sink: ClickHouse /);
        expect(await failing()).to.equal('1');
      } finally {
        await owner.command(undone);
      }
      await until('the entry', () => found(about), (count) => count === 1); // prettier-ignore
      await until('the end of the warning', warningsNow, (warnings) => warnings.length === 0);
      expect(await failing()).to.equal('0');
    });
});
