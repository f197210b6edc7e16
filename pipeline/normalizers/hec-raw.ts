import { invalidBody } from '../core/errors.ts';
import { FixedName } from '../logs/names.ts';
import type { EntryWriter } from '../logs/writer.ts';
import { LOGS } from '../logs/record.ts';
import { hecAnswer } from './hec/answer.ts';
import type { IngestRequest, Normalizer } from './normalizer.ts';
import { takeLines } from './shared/text-lines.ts';

/** Query parameters that name the origin of the lines. */
const METADATA = [new FixedName('host'), new FixedName('source'), new FixedName('sourcetype'), new FixedName('index')];

/**
 * Splunk's HTTP Event Collector, raw
 * (https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/http-event-collector-rest-api-endpoints):
 * each line is an entry, with the request's `host`, `source`, `sourcetype` and `index`, and its `time`.
 */
export const hecRaw: Normalizer = {
  name: 'hec_raw',
  signal: LOGS,
  paths: [
    ...['/services/collector/raw', '/services/collector/raw/1.0'],
    ...['/insert/splunk/services/collector/raw', '/insert/splunk/services/collector/raw/1.0'],
  ],
  methods: ['POST'],
  errors: 'hec',

  normalize({ body, query, maxBytes }: IngestRequest, out: EntryWriter): void {
    const shared = METADATA.map((name) => ({ name, value: query.get(name.text) ?? '' })).filter(({ value }) => value !== '');
    const time = query.get('time') ?? '';
    if (!out.timeIsText(time)) throw invalidBody(`The parameter time, ${JSON.stringify(time.slice(0, 64))}, is not a time.`, { code: 6 });
    takeLines(body, out, maxBytes, shared, time);
    if (out.total === 0) throw invalidBody('The body is empty; send lines of text.', { code: 5 });
  },

  ack: hecAnswer,
};
