/** Every filter with a name, an operator or a field of its own, one line each. Words, phrases and logic are the parser's. */
import { registry } from '../../pipeline/core/registry.ts';
import { containsAll, containsAny } from './contains.ts';
import { equals, exact, notEquals } from './exact.ts';
import { fingerprintField } from './fingerprint.ts';
import { anyCase } from './fold.ts';
import { oneOf } from './in.ts';
import { ipv4Range } from './ipv4.ts';
import { lengthRange } from './length.ts';
import { eqField, leField, ltField } from './other-field.ts';
import { greater, interval, less, range } from './range.ts';
import { matches, matchesNot, re } from './regexp.ts';
import { sequence } from './sequence.ts';
import { streamIdField } from './stream-id.ts';
import { stream, streamField } from './stream.ts';
import { stringRange } from './string-range.ts';
import { timeField } from './time.ts';
import { valueType } from './value-type.ts';

export const filters = registry(
  (filter) => filter.names,
  [
    equals,
    notEquals,
    greater,
    less,
    interval,
    matches,
    matchesNot,
    stream,
    timeField,
    streamField,
    streamIdField,
    fingerprintField,
    anyCase,
    containsAll,
    containsAny,
    eqField,
    exact,
    oneOf,
    ipv4Range,
    leField,
    lengthRange,
    ltField,
    range,
    re,
    sequence,
    stringRange,
    valueType,
  ],
);
