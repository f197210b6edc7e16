import { isUtf8 } from 'node:buffer';
import { lengthTag, ProtobufReader } from '../wire/protobuf.ts';
import { NAME, type Labels } from './definition.ts';

/** Most labels of a series, and most bytes of a name, of a value, and of all of a series. */
const MAX_LABELS = 128;
const MAX_NAME_BYTES = 1024;
const MAX_VALUE_BYTES = 8192;
const MAX_SERIES_BYTES = 65_536;

/** Labels as remote write has them: messages with a name (1) and a value (2). What follows in a field 3 is what is known of the metric. */
export const LABEL = { pair: lengthTag(1), facts: lengthTag(3) } as const;
const PAIR = { name: lengthTag(1), value: lengthTag(2) } as const;

/** What was read: labels in their order, or a general reason why they cannot be taken, with what it is about. */
export type ReadLabels =
  | { readonly labels: Labels; readonly facts: string; readonly isPlain: boolean }
  | { readonly problem: string; readonly about: string };

const refused = (problem: string, about: string): ReadLabels => ({ problem, about });
/** What an error shows of a name. */
const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);

const PLAIN_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const PLAIN_METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/** Reads the labels at `source[start..end)`. A label without a value is none. Throws HttpError 400 where the bytes are corrupt. */
export function readLabels(source: Buffer, start: number, end: number): ReadLabels {
  if (end - start > MAX_SERIES_BYTES) return refused(`labels of more than ${String(MAX_SERIES_BYTES)} bytes`, '');
  const wire = new ProtobufReader(source);
  const labels: (readonly [string, string])[] = [];
  let facts = '';
  wire.seek(start, end);
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag !== LABEL.pair && tag !== LABEL.facts) {
      wire.skip(tag);
      continue;
    }
    const outer = wire.enter();
    if (tag === LABEL.facts) facts = source.toString('utf8', wire.at, wire.end);
    else {
      const found = readPair(wire);
      if ('problem' in found) return found;
      if (found.value !== '') labels.push([found.name, found.value]);
    }
    wire.leave(outer);
  }
  return checked(labels, facts);
}

type Pair = { readonly name: string; readonly value: string };

function readPair(wire: ProtobufReader): Pair | Extract<ReadLabels, { problem: string }> {
  const { bytes } = wire;
  let [name, value] = ['', ''];
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag !== PAIR.name && tag !== PAIR.value) {
      wire.skip(tag);
      continue;
    }
    const outer = wire.enter();
    const { at, end } = wire;
    const isName = tag === PAIR.name;
    if (isName && end - at > MAX_NAME_BYTES)
      return { problem: `a label name of more than ${String(MAX_NAME_BYTES)} bytes`, about: shown(bytes.toString('utf8', at, at + 100)) };
    if (!isName && end - at > MAX_VALUE_BYTES)
      return { problem: `a label value of more than ${String(MAX_VALUE_BYTES)} bytes`, about: shown(name) };
    if (!isUtf8(bytes.subarray(at, end))) return { problem: 'a label is not UTF-8', about: shown(name) };
    if (isName) name = bytes.toString('utf8', at, end);
    else value = bytes.toString('utf8', at, end);
    wire.leave(outer);
  }
  return name === '' ? { problem: 'a label name is empty', about: '' } : { name, value };
}

function checked(labels: (readonly [string, string])[], facts: string): ReadLabels {
  if (labels.length > MAX_LABELS) return refused(`more than ${String(MAX_LABELS)} labels`, '');
  labels.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const twice = labels.find(([name], index) => index > 0 && name === (labels[index - 1] as readonly [string, string])[0]);
  if (twice !== undefined) return refused('a label name is there twice', shown(twice[0]));
  if (!labels.some(([name]) => name === NAME)) return refused(`the label ${NAME} is missing`, shownSeries(labels));
  const isPlain = labels.every(([name, value]) => PLAIN_NAME.test(name) && (name !== NAME || PLAIN_METRIC.test(value)));
  return { labels, facts, isPlain };
}

/** A series in an error. */
const shownSeries = (labels: Labels): string => {
  const text = labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
  return `{${text.length > 200 ? `${text.slice(0, 200)}…` : text}}`;
};

/** The first name of labels that is not one of the classic rules; empty for none. */
export function notPlain(labels: Labels): string {
  const found = labels.find(([name, value]) => !PLAIN_NAME.test(name) || (name === NAME && !PLAIN_METRIC.test(value)));
  return found === undefined ? '' : shown(found[0] === NAME ? found[1] : found[0]);
}
