import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { normalizers, replayNormalizers, sampleNormalizers, spanNormalizers } from '../../pipeline/normalizers/index.ts';
import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { ReplayWriter } from '../../pipeline/replay/replay-writer.ts';
import type { SamplesWriter } from '../../pipeline/samples/samples-writer.ts';
import type { SpansWriter } from '../../pipeline/traces/spans-writer.ts';
import type { RequestOptions } from '../pipeline/normalizers/normalize.ts';

type Given = { readonly name: string; readonly body: Buffer; readonly envelope: RequestOptions };

/** A body of entries that its normalizer understands, and the envelope it came in. */
export type EntrySeed = Given & { readonly signal: 'logs'; readonly normalizer: Normalizer };
/** The same of spans. */
export type SpanSeed = Given & { readonly signal: 'spans'; readonly normalizer: Normalizer<SpansWriter> };
/** And of samples of metrics. */
export type SampleSeed = Given & { readonly signal: 'samples'; readonly normalizer: Normalizer<SamplesWriter> };
/** The same of session replay. */
export type ReplaySeed = Given & { readonly signal: 'replay'; readonly normalizer: Normalizer<ReplayWriter> };
export type Seed = EntrySeed | SpanSeed | SampleSeed | ReplaySeed;

const fixtures = path.resolve(import.meta.dirname, '../fixtures/normalizers');

function given(name: string): Given[] {
  const folder = path.join(fixtures, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.in'))
    .map((file) => {
      const envelope = path.join(folder, file.replace(/\.in$/, '.request.json'));
      return {
        name: `${name}/${file}`,
        body: readFileSync(path.join(folder, file)),
        envelope: existsSync(envelope) ? (JSON.parse(readFileSync(envelope, 'utf8')) as RequestOptions) : {},
      };
    });
}

/** The fixtures of every normalizer of entries: recorded bodies of real clients among them. */
export const seeds = (): EntrySeed[] =>
  normalizers.members.flatMap((normalizer) => given(normalizer.name).map((one) => ({ ...one, signal: 'logs' as const, normalizer })));

/** Those of spans. */
export const spanSeeds = (): SpanSeed[] =>
  spanNormalizers.members.flatMap((normalizer) => given(normalizer.name).map((one) => ({ ...one, signal: 'spans' as const, normalizer })));

/** Those of samples; bodies that come in Snappy are here decompressed. */
export const sampleSeeds = (): SampleSeed[] =>
  sampleNormalizers.members.flatMap((normalizer) =>
    given(normalizer.name).map((one) => ({ ...one, signal: 'samples' as const, normalizer })),
  );

/** Those of session replay. */
export const replaySeeds = (): ReplaySeed[] =>
  replayNormalizers.members.flatMap((normalizer) =>
    given(normalizer.name).map((one) => ({ ...one, signal: 'replay' as const, normalizer })),
  );
