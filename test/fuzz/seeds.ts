import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { normalizers } from '../../pipeline/normalizers/index.ts';
import type { Normalizer } from '../../pipeline/normalizers/normalizer.ts';
import type { RequestOptions } from '../pipeline/normalizers/normalize.ts';

/** A body that its normalizer understands, and the envelope it came in. */
export type Seed = { readonly name: string; readonly normalizer: Normalizer; readonly body: Buffer; readonly envelope: RequestOptions };

const fixtures = path.resolve(import.meta.dirname, '../fixtures/normalizers');

/** The fixtures of every normalizer: recorded bodies of real clients among them. */
export function seeds(): Seed[] {
  return normalizers.members.flatMap((normalizer) => {
    const folder = path.join(fixtures, normalizer.name);
    return readdirSync(folder)
      .filter((file) => file.endsWith('.in'))
      .map((file) => {
        const envelope = path.join(folder, file.replace(/\.in$/, '.request.json'));
        return {
          name: `${normalizer.name}/${file}`,
          normalizer,
          body: readFileSync(path.join(folder, file)),
          envelope: existsSync(envelope) ? (JSON.parse(readFileSync(envelope, 'utf8')) as RequestOptions) : {},
        };
      });
  });
}
