/** Every pipe, one line each. */
import { registry } from '../../pipeline/core/registry.ts';
import { fields } from './fields.ts';
import { filterPipe } from './filter.ts';
import { limit, offset } from './limit.ts';
import { sort } from './sort.ts';
import { stats } from './stats.ts';
import { top } from './top.ts';
import { uniq } from './uniq.ts';

export const pipes = registry((pipe) => pipe.names, [fields, filterPipe, limit, offset, sort, stats, top, uniq]);
