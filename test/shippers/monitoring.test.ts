import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { OWN_ALERTS } from '../../docs/monitoring.ts';
import { installToolset, NotHere } from './toolsets.ts';

const rules = path.resolve(import.meta.dirname, '../../compose/monitoring/alerts.yml');
type Series = { readonly series: string; readonly values: string };
type Example = { readonly fires: readonly Series[]; readonly labels?: Readonly<Record<string, string>>; readonly not: readonly Series[] };
const one = (series: string, values: string): readonly Series[] => [{ series, values }];

/** For each rule, half an hour of minutes in which it fires, with the labels that it has then, and one in which it does not. */
const EXAMPLES: Readonly<Record<string, Example>> = {
  LogweirDown: { fires: one('up{job="logweir"}', '0x30'), labels: { job: 'logweir' }, not: one('up{job="logweir"}', '1x30') },
  LogweirIngestPaused: {
    fires: one('logweir_ingest_paused{role="ingest",instance="a"}', '1x30'),
    labels: { instance: 'a' },
    not: one('logweir_ingest_paused', '0x30'),
  },
  LogweirInsertsFail: {
    fires: one('logweir_failing_inserts{table="logs"}', '1x30'),
    labels: { table: 'logs' },
    not: one('logweir_failing_inserts{table="logs"}', '1x28 0 0'),
  },
  LogweirLagGrows: {
    fires: one('logweir_consumer_lag{topic="t",partition="0"}', '2000+100x30'),
    labels: { topic: 't' },
    not: one('logweir_consumer_lag{topic="t",partition="0"}', '9000-100x30'),
  },
  LogweirDeadLetters: {
    fires: one('logweir_dead_letters_total{topic="t",reason="refused"}', '0x25 3x5'),
    labels: { topic: 't', reason: 'refused' },
    not: one('logweir_dead_letters_total{topic="t",reason="refused"}', '3x30'),
  },
  LogweirRecordsExpired: {
    fires: one('logweir_expired_records_total{topic="t"}', '0x25 3x5'),
    labels: { topic: 't' },
    not: one('logweir_expired_records_total{topic="t"}', '3x30'),
  },
  LogweirBackpressure: {
    fires: one('logweir_errors_total{slug="backpressure",instance="a"}', '0+60x30'),
    labels: { instance: 'a' },
    not: one('logweir_errors_total{slug="rate_limited",instance="a"}', '0+60x30'),
  },
  LogweirInternalErrors: {
    fires: [
      ...one('logweir_errors_total{status="500",instance="a"}', '0x25 1x5'),
      ...one('logweir_failed_streams_total{slug="internal_error",instance="a"}', '0x30'),
    ],
    labels: { instance: 'a' },
    not: [
      ...one('logweir_errors_total{status="500",instance="a"}', '1x30'),
      ...one('logweir_failed_streams_total{slug="internal_error",instance="a"}', '0x30'),
    ],
  },
  LogweirRowPoliciesMissing: {
    fires: one('logweir_missing_row_policies', '2x30'),
    labels: {},
    not: one('logweir_missing_row_policies', '0x30'),
  },
  LogweirProcessorHalted: {
    fires: one('logweir_processor_halted{processor="volume"}', '1x30'),
    labels: { processor: 'volume' },
    not: one('logweir_processor_halted{processor="volume"}', '0x30'),
  },
  LogweirProcessorLags: {
    fires: one('logweir_processor_lag{processor="volume"}', '20000x30'),
    labels: { processor: 'volume' },
    not: one('logweir_processor_lag{processor="volume"}', '20000x25 0x5'),
  },
  LogweirQueryWorkersEnd: {
    fires: one('logweir_query_workers_lost_total{why="memory"}', '0+1x30'),
    labels: { why: 'memory' },
    not: one('logweir_query_workers_lost_total{why="memory"}', '0x25 1x5'),
  },
  LogweirNotificationsFail: {
    fires: one('logweir_notifications_total{to="webhook",outcome="failed"}', '0x25 1x5'),
    labels: { to: 'webhook' },
    not: one('logweir_notifications_total{to="webhook",outcome="sent"}', '0+9x30'),
  },
};

describe("rules for the service's own operators, in Debian's Prometheus", function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-rules-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are rules, and each fires when it is to and not otherwise', async function () {
    expect(Object.keys(EXAMPLES)).to.deep.equal(OWN_ALERTS.map(({ name }) => name));
    let program: string;
    try {
      program = path.join((await installToolset('prometheus', console.log)).folder, 'prometheus', 'root', 'usr', 'bin', 'promtool');
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.error(`NOT RUN: no Prometheus reads the rules, since ${error.message}`);
      return this.skip();
    }
    copyFileSync(rules, path.join(folder, 'alerts.yml'));
    const tests = OWN_ALERTS.flatMap(({ name, severity }) => {
      const { fires, labels = {}, not } = EXAMPLES[name] as Example;
      const at = { eval_time: '29m', alertname: name };
      // texts are compared too: those of the rules, as they are filled in
      return [
        { interval: '1m', input_series: not, alert_rule_test: [{ ...at, exp_alerts: [] }] },
        {
          interval: '1m',
          input_series: fires,
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${name}",alertstate="firing",severity="${severity}"${matchers(labels)}})`,
              eval_time: '29m',
              exp_samples: [{ labels: '{}', value: 1 }],
            },
          ],
        },
      ];
    });
    writeFileSync(path.join(folder, 'tests.yml'), stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests }));
    await promisify(execFile)(program, ['check', 'rules', 'alerts.yml'], { cwd: folder });
    const { stdout } = await promisify(execFile)(program, ['test', 'rules', 'tests.yml'], { cwd: folder }).catch((error: unknown) => {
      const { stdout: out, stderr } = error as { readonly stdout: string; readonly stderr: string };
      throw new Error(out + stderr);
    });
    expect(stdout).to.include('SUCCESS');
    // a rule that is silent is found out
    const [, ...others] = tests;
    const broken = [
      {
        interval: '1m',
        input_series: one('up{job="logweir"}', '0x30'),
        alert_rule_test: [{ eval_time: '29m', alertname: 'LogweirDown', exp_alerts: [] }],
      },
      ...others,
    ];
    writeFileSync(path.join(folder, 'broken.yml'), stringify({ rule_files: ['alerts.yml'], evaluation_interval: '1m', tests: broken }));
    const failed = await promisify(execFile)(program, ['test', 'rules', 'broken.yml'], { cwd: folder }).then(
      () => false,
      () => true,
    );
    expect(failed).to.equal(true);
  });
});

const matchers = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `,${name}="${value}"`)
    .join('');
