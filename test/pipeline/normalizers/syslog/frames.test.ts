import { expect } from 'chai';
import { cpuCost } from '../../../fakes/cpu-cost.ts';
import fc from 'fast-check';
import { nextFrame, type Frame } from '../../../../pipeline/normalizers/syslog/frames.ts';

function framesOf(body: string | Buffer): string[] {
  const bytes = Buffer.from(body);
  const frames: string[] = [];
  const frame: Frame = { start: 0, end: 0 };
  for (let at = nextFrame(bytes, 0, frame); at >= 0; at = nextFrame(bytes, at, frame))
    frames.push(bytes.toString('utf8', frame.start, frame.end));
  return frames;
}

const counted = (frame: string): string => `${String(Buffer.byteLength(frame))} ${frame}`;

describe('syslog: frames', () => {
  const ok = (name: string, body: string, frames: string[]): void => {
    it(name, () => expect(framesOf(body)).to.deep.equal(frames));
  };
  ok('are lines', '<1>a\n<2>b\nc', ['<1>a', '<2>b', 'c']);
  ok('end with CRLF, NUL or nothing', '<1>a\r\n<2>b\0\n<3>c\0\0\r\n<4>d', ['<1>a', '<2>b', '<3>c', '<4>d']);
  ok('that are empty are skipped', '\n\r\n\0\n<1>a\n\n\n', ['<1>a']);
  ok('keep spaces, tabs and NULs inside', ' <1>a\n\tb\0c \n', [' <1>a', '\tb\0c ']);
  ok('are counted in bytes', counted('<1>é\nü') + counted('<2>b') + counted('<3>c'), ['<1>é\nü', '<2>b', '<3>c']);
  ok('are counted, with line feeds between them', `${counted('<1>a')}\n${counted('<2>b')}\n`, ['<1>a', '<2>b']);
  ok('are counted, with the line feed in the count', counted('<1>a\n') + counted('<2>b\r\n'), ['<1>a', '<2>b']);
  ok('of both kinds stand in one body', `<1>a\n${counted('<2>b\nc')}\n<3>d\n${counted('<4>e')}`, ['<1>a', '<2>b\nc', '<3>d', '<4>e']);
  ok('end with their line where the count leads past the body', '99 <1>a\n<2>b', ['<1>a', '<2>b']);
  ok('end with their line where the count leads nowhere', '6 <1>abcdef\n<2>b', ['<1>abcdef', '<2>b']);
  ok('end with their line where the count is 0', '0 <1>a\n', ['<1>a']);
  ok('end with their line where the count cuts the <PRI>', '1 <34>a\n', ['<34>a']);
  ok('may have a count of far too many digits', `${'9'.repeat(30)} <1>a\n<2>b`, [`${'9'.repeat(30)} <1>a`, '<2>b']);
  ok('are text where no <PRI> follows the number', '12 monkeys\n12 <b>bold\n', ['12 monkeys', '12 <b>bold']);
  ok('there are none in an empty body', '', []);

  it('come back as they were sent', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 }).map((rest) => `<13>${rest}x`);
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.boolean()), { maxLength: 10 }), (sent) => {
        const body = sent.map(([frame, asCount]) => (asCount ? counted(frame) : frame.replaceAll('\n', ' ') + '\n')).join('');
        expect(framesOf(body)).to.deep.equal(sent.map(([frame, asCount]) => (asCount ? frame : frame.replaceAll('\n', ' '))));
      }),
    );
  });
  it('of 2 MB of numbers are found in linear time', () => {
    const cost = cpuCost(() => {
      expect(framesOf('1 '.repeat(1_000_000))).to.have.length(1);
      expect(framesOf('99999999 <1>\n'.repeat(150_000))).to.have.length(150_000);
    });
    expect(cost).to.be.below(200);
  });
});
