import { FixedName } from '../../logs/names.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { afterByteOrderMark, endOfLine } from './bytes.ts';
import { GroupBudget } from './group-budget.ts';

/** A field that all lines of a request have in common. */
export type SharedField = { readonly name: FixedName; readonly value: string };

const MESSAGE = new FixedName('_msg');
/** After this number of lines the group begins afresh, so that names of fields that many lines bring are forgotten in time. */
const GROUP = 1000;

/**
 * Takes each line of a body as an entry: its bytes, without the line's end, are the message; members of a line that is a JSON object
 * become fields in addition to the shared ones, which they never override. Lines without a byte are skipped. `maxBytes`: the cap of a body;
 * `time`: that of all lines, empty where they have their own.
 */
export function takeLines(body: Buffer, out: EntryWriter, maxBytes: number, shared: readonly SharedField[] = [], time = ''): void {
  const budget = new GroupBudget(maxBytes);
  let inGroup = GROUP;
  for (let start = afterByteOrderMark(body, 0); start < body.length;) {
    const lineEnd = endOfLine(body, start);
    const end = lineEnd > start && body[lineEnd - 1] === 0x0d ? lineEnd - 1 : lineEnd;
    if (end > start) {
      if (inGroup === GROUP) {
        beginGroup(body, out, budget, shared);
        inGroup = 0;
      }
      inGroup += 1;
      const problem = budget.next();
      if (problem === '') takeLine(body, start, end, { out, time });
      else out.reject(problem, body, start, end);
    }
    start = lineEnd + 1;
  }
}

function beginGroup(body: Buffer, out: EntryWriter, budget: GroupBudget, shared: readonly SharedField[]): void {
  const draft = out.begin(body);
  for (const { name, value } of shared) draft.putString(name.in(draft.names), value);
  budget.hold(draft);
}

function takeLine(body: Buffer, start: number, end: number, { out, time }: { readonly out: EntryWriter; readonly time: string }): void {
  const draft = out.again(start, end);
  draft.putText(MESSAGE.in(draft.names), body, start, end);
  draft.readLine(body, start, end);
  if (time !== '') out.timeIsText(time);
  out.end();
}
