/** What a processor outside of this package is written with: `import … from 'logweir/processor'` (docs/extending/processors.md). */
export { HyperLogLog } from './base/hyperloglog.ts';
export type { AbsoluteRecord } from '../bus/producer/absolute-record.ts';
export type { Measure } from '../counters/measure.ts';
export { entries, type Entry } from './base/entries.ts';
/** `Extension` is its name in releases before. */
export type { ProcessorFile, ProcessorFile as Extension } from './processor-file.ts';
export { jsonPartials, jsonState, partialRows } from './base/json.ts';
export type { Merger, MergerInput } from './merge/merger.ts';
export type { PartialOutput, PartialInput } from './base/partial.ts';
export type { Batch, Input, Processor, Tick } from './base/processor.ts';
export type { Setting } from '../core/setting.ts';
