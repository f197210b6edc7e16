/** What may stand in any text of a page and must not leave it. Each match becomes stars of the same length, so that the layout stays. */

/** No picture for screens of two pixels a point: `logo@2x.png`. */
const EMAIL = /[A-Z0-9._%+-]{1,64}@(?!\dx\.)[A-Z0-9-]{1,63}(?:\.[A-Z0-9-]{1,63})+/gi;
/** 13 to 19 digits, maybe in groups. */
const CARD = /\d(?:[ -]?\d){12,18}/g;
/** JSON web tokens, credentials of HTTP, keys with a well-known beginning, and words of secrets in addresses and headers with what follows them. */
const TOKENS: readonly RegExp[] = [
  /\beyJ[\w-]{8,4096}\.[\w-]+(?:\.[\w-]*)?/g,
  /\b(?:Bearer|Basic|Token)\s+[\w.~+/-]{8,}=*/gi,
  /\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs]|AKIA|lwk)[-_]?[\w-]{12,}/g,
  /\b(?:token|access_token|id_token|api_?key|secret|password|passwd|code|sig|signature)=[^\s&#"']+/gi,
];
/** Names of values that have no text: style sheets, and images as data. */
const UNMASKED: ReadonlySet<string> = new Set(['_cssText', 'rr_dataURL', 'tagName', 'd', 'points', 'class', 'style']);

const stars = (match: string): string => '*'.repeat(match.length);

/** True where the last of the digits is that which the others require (Luhn). */
function isCard(text: string): boolean {
  let [sum, isDoubled] = [0, false];
  for (let i = text.length - 1; i >= 0; i--) {
    const digit = text.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) continue;
    const value = isDoubled ? digit * 2 : digit;
    sum += value > 9 ? value - 9 : value;
    isDoubled = !isDoubled;
  }
  return sum % 10 === 0;
}

/** A text without e-mail addresses, card numbers, tokens, and what else is named. */
export function maskText(text: string, more: readonly RegExp[] = []): string {
  if (text.length < 6 || text.startsWith('data:')) return text;
  let masked = text;
  if (masked.includes('@')) masked = masked.replace(EMAIL, stars);
  if (/\d{4}/.test(masked)) masked = masked.replace(CARD, (match) => (isCard(match) ? stars(match) : match));
  for (const pattern of TOKENS) masked = masked.replace(pattern, stars);
  for (const pattern of more) masked = masked.replace(pattern, stars);
  return masked;
}

/** A value as JSON, each text in it masked. */
export const maskedJson = (value: unknown, more: readonly RegExp[] = []): string =>
  JSON.stringify(value, (name, member: unknown) => (typeof member === 'string' && !UNMASKED.has(name) ? maskText(member, more) : member));
