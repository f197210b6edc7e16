/** IPv6 addresses as regular expressions (RFC 4291, section 2.2): the masks' oracle, as `mask-table.ts` is. */
const H = '[0-9A-Fa-f]{1,4}';
const QUAD = String.raw`\d{1,3}(?:\.\d{1,3}){3}`;
const WITH_DIGIT = String.raw`(?=[0-9A-Fa-f:]*\d)`;

/** So many groups with colons between; the last two may be an IPv4 address. */
const groups = (count: number): string => {
  const plain = `${H}(?::${H}){${count - 1}}`;
  return count < 2 ? plain : `(?:(?:${H}:){${count - 2}}${QUAD}(?::\\d{1,5})?|${plain})`;
};

/** Groups before and behind `::`. With fewer than three, or two at an end, there has to be a digit: `a::b` are names. */
function withGap(): string[] {
  const all: string[] = [];
  for (let left = 0; left <= 7; left += 1)
    for (let right = 0; left + right <= 7; right += 1) {
      const needed = left > 0 && right > 0 ? 3 : 2;
      const digit = left + right === 0 || left + right >= needed ? '' : WITH_DIGIT;
      const isShort = left === 1 && right === 0 ? '(?=[0-9A-Fa-f]{3})' : '';
      // an IPv4 address stands at the end alone
      const head = left === 0 ? '' : `${H}(?::${H}){${left - 1}}`;
      all.push(`${isShort}${digit}${head}::${right === 0 ? '' : groups(right)}`);
    }
  return all.reverse();
}

const FULL = `(?:(?:${H}:){7}${H}|(?:${H}:){6}${QUAD})`;
const TAIL = String.raw`(?:%[\w.%-]{0,79}[A-Za-z0-9])?(?:/\d{1,3})?`;
export const ADDRESS: string = `(?:(?:${FULL}${TAIL}(?::\\d{1,5})?)|(?:${withGap().join('|')})${TAIL})`;
