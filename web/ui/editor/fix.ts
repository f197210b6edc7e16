/** What a query that is refused, or read otherwise than it was meant, may have been meant to be. */
import { quote } from '../../../logsql/base/reserved.ts';

/** The text in parts: those in quotes apart. */
const parts = (text: string): string[] => text.split(/("(?:[^"\\]|\\.)*"|`[^`]*`)/);
const LABEL = /(^|[\s(])([A-Za-z_][\w.]*)\s*(=~|!~|!=|==?)\s*$/;
const BARE = /(^|[\s(])([A-Za-z_][\w.]*)(=~|!~|!=|==?)([^\s"=|(){}]+)/g;

function filterOf(field: string, sign: string, value: string): string {
  const not = sign.startsWith('!') ? 'NOT ' : '';
  return `${not}${quote(field)}:${sign.endsWith('~') ? '~' : '='}${quote(value)}`;
}

/** `level="error"`, `code=5` and `pod=~"x"`, as Loki has them, in LogsQL; null where there is nothing of the kind. */
export function meantOf(query: string): string | null {
  const found = parts(query);
  // in braces they are right
  if (/[{}]/.test(found.filter((_part, at) => at % 2 === 0).join(''))) return null;
  let meant = '';
  for (let at = 0; at < found.length; at += 1) {
    const [text = '', quoted] = [found[at], found[at + 1]];
    if (at % 2 === 1) meant += text;
    else {
      const [whole, before = '', field = '', sign = ''] = (quoted === undefined ? null : LABEL.exec(text)) ?? [];
      const plain = (part: string): string => part.replace(BARE, (_all, lead: string, name: string, of: string, value: string) => lead + filterOf(name, of, value)); // prettier-ignore
      if (whole === undefined || quoted === undefined) meant += plain(text);
      else {
        meant += `${plain(text.slice(0, -whole.length))}${before}${filterOf(field, sign, quoted.slice(1, -1))}`;
        at += 1;
      }
    }
  }
  return meant === query ? null : meant;
}

/** A query that is refused, as it may be right, where that is plain: what is not closed is closed, what nothing follows is left out. */
export function fixOf(query: string): string | null {
  const meant = meantOf(query);
  if (meant !== null) return meant;
  const text = query.trimEnd();
  const loose = text.replace(/(?:\s+(?:and|or|not)|\s*\|)+$/i, '');
  if (loose !== text && loose !== '') return loose;
  const outside = parts(text).filter((_part, at) => at % 2 === 0).join(''); // prettier-ignore
  if ((outside.match(/"/g)?.length ?? 0) % 2 === 1) return `${text}"`;
  const depth = (outside.match(/\(/g)?.length ?? 0) - (outside.match(/\)/g)?.length ?? 0);
  return depth > 0 && depth < 10 ? text + ')'.repeat(depth) : null;
}
