/** Stream labels and their one string form: `{app="web",host="h1"}`, sorted by name, values JSON-escaped. */

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.:/-]*$/u;

/** Renders a label set. Labels with empty values are left out; names that are not plain words are quoted too. */
export function renderStream(labels: Iterable<readonly [string, string]>): string {
  const sorted = [...labels].filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return (
    '{' + sorted.map(([name, value]) => (PLAIN_NAME.test(name) ? name : JSON.stringify(name)) + '=' + JSON.stringify(value)).join(',') + '}'
  );
}

/** The longest value of a label, in bytes. */
export const MAX_LABEL_BYTES = 2048;

/** A string as the value of a label: cut to 2,048 bytes, between characters. */
export function labelValue(text: string): string {
  // a UTF-16 unit takes three bytes at most
  if (text.length * 3 <= MAX_LABEL_BYTES) return text;
  const bytes = Buffer.from(text);
  let end = MAX_LABEL_BYTES;
  if (bytes.length <= end) return text;
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Reads what `renderStream` wrote. Throws on any other text. */
export function parseStream(text: string): Map<string, string> {
  const labels = new Map<string, string>();
  const fail = (at: number): never => {
    throw new Error(`Not a stream's label set at offset ${String(at)}: ${text}`);
  };
  const label = /(?:("(?:[^"\\]|\\.)*")|([^"{},=\s]+))=("(?:[^"\\]|\\.)*")/uy;
  if (!text.startsWith('{') || !text.endsWith('}')) fail(0);
  let at = 1;
  while (at < text.length - 1) {
    label.lastIndex = at;
    const match = label.exec(text);
    if (match === null) return fail(at);
    labels.set(match[1] === undefined ? (match[2] ?? '') : (JSON.parse(match[1]) as string), JSON.parse(match[3] ?? '""') as string);
    at = label.lastIndex;
    if (text[at] === ',') at += 1;
    else if (at !== text.length - 1) fail(at);
  }
  return labels;
}

/** The service that a stream's labels name: `service`, else `service.name`; empty where neither is there. */
export function serviceOf(stream: string): string {
  const labels = parseStream(stream);
  return labels.get('service') ?? labels.get('service.name') ?? '';
}

/** The label set that all streams of a stream's service share: `{service="web"}`; empty where its labels name none. */
export function serviceLabels(stream: string): string {
  const labels = parseStream(stream);
  const name = ['service', 'service.name'].find((label) => labels.has(label));
  return name === undefined ? '' : renderStream([[name, labels.get(name) as string]]);
}

const [OPEN, CLOSE, EQUALS, COMMA, QUOTE, BACKSLASH, SPACE, FIRST_WIDE] = [0x7b, 0x7d, 0x3d, 0x2c, 0x22, 0x5c, 0x20, 0x7f];

/** Whether `parseStream` reads the UTF-8 text at `bytes[start..end)`. Without escapes and quoted names nothing is allocated. */
export function isStream(bytes: Buffer, start: number, end: number): boolean {
  if (isPlainStream(bytes, start, end)) return true;
  try {
    parseStream(bytes.toString('utf8', start, end));
    return true;
  } catch {
    return false;
  }
}

/** True for most of what `parseStream` reads, and nothing else. */
function isPlainStream(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== OPEN || bytes[end - 1] !== CLOSE) return false;
  if (end - start === 2) return true;
  for (let at = start + 1; at < end - 1; at++) {
    const name = at;
    while (isPlainNameByte(bytes[at] as number)) at += 1;
    if (at === name || bytes[at] !== EQUALS || bytes[at + 1] !== QUOTE) return false;
    at += 2;
    for (let byte = bytes[at] as number; byte !== QUOTE; byte = bytes[++at] as number)
      if (byte === BACKSLASH || byte < SPACE || at >= end) return false;
    at += 1;
    if (at === end - 1) return true;
    if (bytes[at] !== COMMA) return false;
  }
  return false;
}

const isPlainNameByte = (byte: number): boolean =>
  byte > SPACE && byte < FIRST_WIDE && byte !== QUOTE && byte !== OPEN && byte !== CLOSE && byte !== COMMA && byte !== EQUALS;
