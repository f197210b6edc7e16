/** Every pipe, one line each. */
import { registry } from '../../pipeline/core/registry.ts';
import { collapseNums } from './collapse-nums.ts';
import { decolorize } from './decolorize.ts';
import { deletePipe } from './delete.ts';
import { dropEmptyFields } from './drop-empty.ts';
import { extractRegexp } from './extract-regexp.ts';
import { extract } from './extract.ts';
import { facets } from './facets.ts';
import { fieldNames } from './field-names.ts';
import { fieldValues } from './field-values.ts';
import { fields } from './fields.ts';
import { filterPipe } from './filter.ts';
import { first, last } from './first-last.ts';
import { format } from './format.ts';
import { join, union } from './join.ts';
import { limit, offset } from './limit.ts';
import { math } from './math.ts';
import { hash, jsonArrayLen, len } from './measure.ts';
import { packJson, packLogfmt } from './pack.ts';
import { patterns } from './patterns.ts';
import { copy, rename } from './rename.ts';
import { replace, replaceRegexp } from './replace.ts';
import { sample } from './sample.ts';
import { sort } from './sort.ts';
import { stats } from './stats.ts';
import { streamContext } from './stream-context.ts';
import { top } from './top.ts';
import { uniq } from './uniq.ts';
import { unpackJson } from './unpack-json.ts';
import { unpackLogfmt } from './unpack-logfmt.ts';
import { unpackSyslog } from './unpack-syslog.ts';
import { unpackWords } from './unpack-words.ts';
import { unroll } from './unroll.ts';

export const pipes = registry(
  (pipe) => pipe.names,
  [
    collapseNums,
    copy,
    decolorize,
    deletePipe,
    dropEmptyFields,
    extract,
    extractRegexp,
    facets,
    fieldNames,
    fieldValues,
    fields,
    filterPipe,
    first,
    format,
    hash,
    join,
    jsonArrayLen,
    last,
    len,
    limit,
    math,
    offset,
    packJson,
    packLogfmt,
    patterns,
    rename,
    replace,
    replaceRegexp,
    sample,
    sort,
    stats,
    streamContext,
    top,
    union,
    uniq,
    unpackJson,
    unpackLogfmt,
    unpackSyslog,
    unpackWords,
    unroll,
  ],
);
