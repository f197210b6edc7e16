/** A coding that an answer can be sent in, other than as it is. */
export type AnswerCoding = 'gzip' | 'zstd';

/** The preferred one first. */
export const CODINGS: readonly AnswerCoding[] = ['zstd', 'gzip'];
/** RFC 9110, 8.4.1.3. */
const ALIASES: ReadonlyMap<string, string> = new Map([['x-gzip', 'gzip']]);
/** RFC 9110, 12.4.2. */
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * The coding that a client prefers by its `Accept-Encoding` (RFC 9110, 12.5.3); null: the answer is sent as it is, also where the client
 * accepts nothing that there is. Ties go to zstd; malformed parts are ignored.
 */
export function preferredCoding(header: string): AnswerCoding | null {
  if (header === '') return null;
  const qualities = qualitiesOf(header);
  const others = qualities.get('*') ?? 0;
  let best: AnswerCoding | null = null;
  // not named, it comes after what is
  let most = qualities.get('identity') ?? 0;
  for (const coding of CODINGS) {
    const quality = qualities.get(coding) ?? others;
    if (quality === 0 || quality < most || (quality === most && best !== null)) continue;
    [best, most] = [coding, quality];
  }
  return best;
}

/** The quality that the header gives each coding, by its lower-case name. */
function qualitiesOf(header: string): ReadonlyMap<string, number> {
  const qualities = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const [weight = 'q=1', ...more] = parameters;
    const [key = '', value = ''] = weight.split('=').map((text) => text.trim());
    if (name === '' || more.length > 0 || key !== 'q' || !QUALITY.test(value)) continue;
    qualities.set(ALIASES.get(name) ?? name, Number(value));
  }
  return qualities;
}
