import { registry } from '../core/registry.ts';
import { cloudwatch } from './cloudwatch.ts';
import { drain } from './drain.ts';
import { esBulk } from './es-bulk.ts';
import { fluent } from './fluent.ts';
import { influx } from './influx.ts';
import { hecEvent } from './hec-event.ts';
import { hecRaw } from './hec-raw.ts';
import { heroku } from './heroku.ts';
import { gelf } from './gelf.ts';
import { jsonEntries } from './json-entries.ts';
import { loki } from './loki.ts';
import type { Normalizer } from './normalizer.ts';
import type { ReplayWriter } from '../replay/replay-writer.ts';
import type { SamplesWriter } from '../samples/samples-writer.ts';
import type { SpansWriter } from '../traces/spans-writer.ts';
import { otlpLogs } from './otlp-logs.ts';
import { otlpMetrics } from './otlp-metrics.ts';
import { otlpTraces } from './otlp-traces.ts';
import { remoteWrite } from './remote-write.ts';
import { rrweb } from './rrweb.ts';
import { syslog } from './syslog.ts';
import { vercel } from './vercel.ts';
import { zipkin } from './zipkin.ts';

/** Every wire format of logs. Adding one: a file, a line here, fixtures in `test/fixtures/normalizers/<name>/`. */
export const normalizers = registry<Normalizer>(
  (normalizer) => [normalizer.name],
  [jsonEntries, esBulk, loki, otlpLogs, gelf, fluent, cloudwatch, hecEvent, vercel, syslog, hecRaw, heroku, drain],
);

/** Those of spans. */
export const spanNormalizers = registry<Normalizer<SpansWriter>>((normalizer) => [normalizer.name], [otlpTraces, zipkin]);

/** Those of samples of metrics. */
export const sampleNormalizers = registry<Normalizer<SamplesWriter>>((normalizer) => [normalizer.name], [otlpMetrics, remoteWrite, influx]);

/** Those of session replay. */
export const replayNormalizers = registry<Normalizer<ReplayWriter>>((normalizer) => [normalizer.name], [rrweb]);
