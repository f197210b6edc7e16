import { readFileSync } from 'node:fs';

/**
 * The line of a process's log that explains its end: the last one, or what Node printed of an error that was not
 * caught. Of a JSON line, its message.
 */
export function lastLogLine(file: string): string {
  try {
    return notification(readFileSync(file, 'utf8')) || `see ${file}`;
  } catch {
    return `see ${file}`;
  }
}

/** The same for the content of a log. */
export function notification(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-100);
  const last = lines.at(-1)?.trim() ?? '';
  if (!/^Node\.js v\d/.test(last)) return message(last);
  const thrown = lines.findLast((line) => /^\w*Error\b.*: /.test(line)) ?? lines.at(-2) ?? '';
  return thrown.replace(/^\w*Error\b[^:]*: /, '').trim();
}

function message(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { readonly msg?: unknown; readonly err?: { readonly message?: unknown } };
    return [msg, err?.message].filter((part) => typeof part === 'string').join(' ') || line;
  } catch {
    return line;
  }
}
