import { registry } from '../core/registry.ts';
import { esBulk } from './es-bulk.ts';
import { jsonEntries } from './json-entries.ts';
import type { Normalizer } from './normalizer.ts';

/** Every wire format. Adding one: a file, a line here, fixtures in `test/fixtures/normalizers/<name>/`. */
export const normalizers = registry<Normalizer>((normalizer) => [normalizer.name], [jsonEntries, esBulk]);
