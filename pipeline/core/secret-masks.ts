/** What must not leave the service in a text: each with the name that takes its place. The first group, where there is one, stays. */
const MASKS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['private key', /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,10000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g],
  ['logweir key', /\blw_[A-Za-z0-9_-]{20,}/g],
  ['token', /\b(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)/g],
  ['aws key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['github token', /\b(?:gh[oprsu]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g],
  ['slack token', /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g],
  ['api key', /\b(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|proj-|ant-)?[A-Za-z0-9_-]{16,}/g],
  ['google key', /\bAIza[A-Za-z0-9_-]{30,}/g],
  ['credential', /\b((?:bearer|basic|token|splunk)\s+)[A-Za-z0-9+/_.~=-]{8,}/gi],
  ['password', /(\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@"']{0,100}:)[^\s/@"']{1,200}(?=@)/gi],
  [
    'secret',
    /((?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|authorization|cookie|session[_-]?id|credential)s?\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?)(?![{[\s]|(?:null|true|false|undefined|bearer|basic|token|splunk)\b)[^\s"'\\,;&}]{3,}/gi,
  ],
  ['card number', /\b(?:\d[ -]?){12,18}\d\b/g],
  ['mail address', /\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9.-]{1,200}\.[A-Za-z]{2,20}\b/g],
];

/** Whether digits are those of a payment card: by their check digit (Luhn). */
function isCard(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    sum += at % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0 && /^[2-6]/.test(digits);
}

/** A text without passwords, keys, tokens, card numbers and mail addresses, and how many were masked. For what is sent to others. */
export function masked(text: string): { readonly text: string; readonly count: number } {
  let count = 0;
  const result = MASKS.reduce(
    (left, [name, pattern]) =>
      left.replace(pattern, (found: string, kept: unknown) => {
        if (name === 'card number' && !isCard(found)) return found;
        count += 1;
        return `${typeof kept === 'string' ? kept : ''}[masked ${name}]`;
      }),
    text,
  );
  return { text: result, count };
}
