import { from, type Section } from './limit.ts';

const words = from('pipeline/clusterer/words.ts');
const shapes = from('pipeline/clusterer/shapes.ts');
const known = from('pipeline/processors/patterns/known-patterns.ts');
const segment = from('pipeline/processors/patterns/pattern-segment.ts');
const clusters = from('pipeline/processors/patterns/tenant-clusters.ts');
const merger = from('pipeline/processors/patterns/clusters.ts');
const news = from('pipeline/alerting/patterns/new-patterns.ts');
const volume = from('pipeline/processors/volume/segment.ts');

/** The templates of messages, and what is counted by pattern, stream and level. */
export const PATTERNS: Section = {
  title: 'Patterns and counts',
  rows: [
    {
      what: 'Message that a template is made of; the template',
      of: 'an entry',
      bound: [words('MAX_MESSAGE', 'bytes'), words('MAX_TEXT', 'bytes')],
      beyond: 'What follows is ignored.',
      others: 'nothing',
      attack: ['large-entries', 'one-long-word'],
    },
    {
      what: 'Templates that are remembered, in each of two generations',
      of: 'a process',
      bound: [shapes('MAX_SHAPES', ''), shapes('MAX_WORDS', 'words')],
      beyond: 'Those used longest ago are forgotten, and hashed again.',
      others: 'Theirs are hashed again too, where they are not in use.',
      attack: ['new-templates'],
    },
    {
      what: 'Patterns that are known in a partition',
      of: 'a tenant',
      bound: [known('MOST_OF_TENANT', '')],
      beyond: 'Others count as the overflow.',
      others: 'nothing',
      attack: ['new-templates'],
      test: 'test/pipeline/processors/patterns/clusters.test.ts',
    },
    {
      what: 'The same',
      of: 'all tenants',
      bound: [known('MOST', '')],
      beyond: 'Others count as the overflow.',
      others: 'Their new ones too, once some have filled it.',
      attack: ['new-templates'],
    },
    {
      what: 'New patterns of an hour in a partition',
      of: 'a tenant',
      bound: [known('MOST_NEW', '')],
      beyond: 'Others are reported in a later hour.',
      others: 'nothing',
      attack: ['new-templates', 'errors-of-new-templates'],
      test: 'test/pipeline/processors/patterns/clusters.test.ts',
    },
    {
      what: 'Groups of patterns, streams and times in a segment; what a tenant always has',
      of: 'a partition',
      bound: [from('pipeline/processors/patterns/patterns.ts')('maxGroups', ''), segment('EXCESSIVE_SHARE', 'part')],
      beyond: 'Of those that have most, streams are counted together, and then patterns.',
      others: 'nothing',
      attack: ['new-templates', 'own-streams'],
      test: 'test/pipeline/processors/patterns/patterns.test.ts',
    },
    {
      what: 'Templates that are distinguished',
      of: 'a tenant',
      bound: [clusters('MOST_TEMPLATES', ''), clusters('MOST_TENANT_BYTES', 'bytes')],
      beyond: 'Others are the overflow.',
      others: 'nothing',
      attack: ['new-templates'],
      test: 'test/pipeline/clusterer/clusterer.test.ts',
    },
    {
      what: 'The same in a partition; beyond it of a tenant, up to a sum',
      of: 'all tenants',
      bound: [
        merger('TEMPLATES', 'bytes', 'most'),
        merger('TEMPLATES', 'bytes of a tenant', 'few'),
        merger('TEMPLATES', 'bytes in all', 'last'),
      ],
      beyond: 'Others are the overflow.',
      others: 'They have as few that are new. Some tenants together can fill the first.',
      test: 'test/pipeline/processors/base/bounds.test.ts',
    },
    {
      what: 'Memory of a template that does not come any more',
      of: 'a tenant',
      bound: [clusters('MOST_DAYS', 'days'), clusters('MOST_FORGOTTEN', 'forgotten ones that are not new when they come again')],
      by: 'the plan',
      beyond: 'One that comes again is new.',
      others: 'nothing',
      test: 'test/pipeline/alerting/patterns/new-patterns.test.ts',
    },
    {
      what: 'Label set of the stream of a pattern',
      of: 'an entry',
      bound: [from('pipeline/processors/patterns/patterns.ts')('MAX_STREAM_BYTES', 'bytes')],
      beyond: 'It is not reported with the pattern.',
      others: 'nothing',
      attack: ['loki-labels'],
    },
    {
      what: 'Patterns whose errors a segment reports',
      of: 'a tenant',
      bound: [from('pipeline/processors/patterns/error-counts.ts')('MOST_PATTERNS', '')],
      beyond: 'Those of others are not watched.',
      others: 'nothing',
      attack: ['errors-of-new-templates'],
      test: 'test/pipeline/processors/patterns/error-counts.test.ts',
    },
    {
      what: 'Alerts of new errors of a service in an hour, by sensitivity',
      of: 'a tenant',
      bound: [
        news('MOST_ALONE', 'low', 'low'),
        news('MOST_ALONE', 'normal', 'normal'),
        news('MOST_ALONE', 'high', 'high'),
        news('MOST_NAMED', 'named in one more'),
      ],
      beyond: 'Further ones are one alert.',
      others: 'nothing',
      attack: ['errors-of-new-templates'],
      test: 'test/pipeline/alerting/patterns/new-patterns.test.ts',
    },
    {
      what: 'Alerts of new errors that fire, in a partition',
      of: 'a tenant',
      bound: [news('MOST_FIRING', ''), news('MOST_SERVICES', 'services'), merger('ALERTS', 'bytes', 'ofTenant')],
      beyond: 'Further ones are not published.',
      others: 'nothing',
      attack: ['errors-of-new-templates'],
      test: 'test/pipeline/alerting/patterns/new-patterns.test.ts',
    },
    {
      what: 'The same; beyond it of a tenant, up to a sum',
      of: 'all tenants',
      bound: [merger('ALERTS', 'bytes', 'most'), merger('ALERTS', 'bytes of a tenant', 'few'), merger('ALERTS', 'bytes in all', 'last')],
      beyond: 'Further ones are not published.',
      others: 'They have as few that are new.',
      test: 'test/pipeline/processors/base/bounds.test.ts',
    },
    {
      what: 'Groups of streams, levels and times in a segment of the volume; what a tenant always has',
      of: 'a partition',
      bound: [from('pipeline/processors/volume/volume.ts')('usual', ''), volume('EXCESSIVE_SHARE', 'part')],
      beyond: 'Streams of those that have most are counted together; then these tenants are not counted.',
      others: 'nothing',
      attack: ['own-streams', 'own-days', 'days-of-one-stream'],
      test: 'test/pipeline/processors/volume/volume.test.ts',
    },
    {
      what: 'Levels in a segment of the volume, and their bytes',
      of: 'a partition',
      bound: [volume('MAX_LEVELS', ''), volume('MAX_LEVEL_BYTES', 'bytes')],
      beyond: 'Those that have most are not counted: their queries look at the entries.',
      others: 'nothing',
      attack: ['own-levels', 'large-levels'],
      test: 'test/pipeline/processors/volume/volume.test.ts',
    },
  ],
};
