const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
const DISPOSITION = /^content-disposition:\s*form-data;([^\r\n]*)$/im;
const NAME = /(?:^|;)[ \t]*name="([^"]*)"/i;
const FILE_NAME = /(?:^|;)[ \t]*filename\*?=/i;
const LINE = Buffer.from('\r\n');
const BLANK_LINE = Buffer.from('\r\n\r\n');
/** Bytes of the headers of a part. */
const MAX_HEADERS = 4096;

/** The text fields of a form in `multipart/form-data` (RFC 7578), in order, without files. Null where the body is not such a form. */
export function readMultipart(body: Buffer, contentType: string): [string, string][] | null {
  const [, quoted, bare] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (boundary === undefined) return null;
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // the first delimiter may stand at the very beginning, without a line before it
  const opens = body.subarray(0, delimiter.length - LINE.length).equals(delimiter.subarray(LINE.length));
  const out: [string, string][] = [];
  for (let at = opens ? -LINE.length : body.indexOf(delimiter); opens || at >= 0;) {
    const start = at + delimiter.length;
    if (body.toString('latin1', start, start + 2) === '--') return out;
    at = body.indexOf(delimiter, start);
    const part = at < 0 ? null : readPart(body.subarray(start, at));
    if (part === null) return null;
    if (part !== 'file') out.push(part);
  }
  return null;
}

/** What stands between two delimiters: padding, headers, a blank line, the value. */
function readPart(part: Buffer): [string, string] | 'file' | null {
  const end = part.indexOf(BLANK_LINE);
  if (end < 0 || end > MAX_HEADERS) return null;
  const headers = part.toString('utf8', 0, end);
  const disposition = DISPOSITION.exec(headers)?.[1];
  const name = disposition === undefined ? undefined : NAME.exec(disposition)?.[1];
  if (disposition === undefined || name === undefined) return null;
  return FILE_NAME.test(disposition) ? 'file' : [unescapeName(name), part.toString('utf8', end + BLANK_LINE.length)];
}

/** Browsers write `"` and line ends in a name as percent escapes. */
const unescapeName = (name: string): string => name.replace(/%22/g, '"').replace(/%0D/g, '\r').replace(/%0A/g, '\n');
