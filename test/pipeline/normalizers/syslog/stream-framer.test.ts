import { expect } from 'chai';
import fc from 'fast-check';
import { cpuMs } from '../../../cpu-time.ts';
import { framesByKey, countFrames } from '../../../../pipeline/normalizers/syslog/data-key.ts';
import { nextFrame, type Frame } from '../../../../pipeline/normalizers/syslog/frames.ts';
import { MAX_FRAME_BYTES, StreamFramer } from '../../../../pipeline/normalizers/syslog/stream-framer.ts';

function framesOf(body: Buffer): string[] {
  const frames: string[] = [];
  const frame: Frame = { start: 0, end: 0 };
  for (let at = nextFrame(body, 0, frame); at >= 0; at = nextFrame(body, at, frame))
    frames.push(body.toString('utf8', frame.start, frame.end));
  return frames;
}

/** The frames that come of these chunks, and how many were passed over. */
function taken(
  chunks: readonly (string | Uint8Array)[],
  isEnded = true,
): { readonly frames: string[]; readonly passed: number; readonly held: number } {
  let passed = 0;
  const framer = new StreamFramer(() => (passed += 1));
  const bodies: Buffer[] = chunks.map((chunk) => Buffer.from(framer.push(Buffer.from(chunk as string))));
  const { held } = framer;
  if (isEnded) bodies.push(framer.end());
  return { frames: bodies.flatMap(framesOf), passed, held };
}

describe('frames of a syslog connection', () => {
  it('are counted in octets, or end with their line, each as it comes', () => {
    expect(taken(['5 <1>ab6 <2>a\nb<3>line\n7 <4>last']).frames).to.deep.equal(['<1>ab', '<2>a\nb', '<3>line', '<4>last']);
  });

  it('come whole however they are cut', () => {
    const stream = Buffer.from('11 <13>1 - ab\n<14>plain line\n12 <15>x\ny z ü<16>end\n');
    const whole = taken([stream]).frames;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: stream.length }), { maxLength: 8 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), stream.length];
        const chunks = at.slice(1).map((end, index) => stream.subarray(at[index], end));
        expect(taken(chunks).frames).to.deep.equal(whole);
      }),
    );
    expect(taken([...stream].map((byte) => Buffer.from([byte]))).frames).to.deep.equal(whole);
  });

  it('whose count lies end with their line, and others are found behind it', () => {
    expect(taken(['9 <1>short\n<2>next\n']).frames).to.deep.equal(['<1>short', '<2>next']);
    const waiting = taken(['5000 <1>never so long\n<2>next\n'], false);
    expect(waiting.frames).to.deep.equal([]);
    expect(waiting.held).to.equal(30);
    expect(taken(['5000 <1>never so long\n<2>next\n']).frames).to.deep.equal(['<1>never so long', '<2>next']);
  });

  it('that are too long are passed over, in little memory', () => {
    const long = 'x'.repeat(MAX_FRAME_BYTES);
    const lines = taken(['<1>before\n', `<2>${long}`, long, `${long}\n<3>after\n`]);
    expect(lines).to.deep.equal({ frames: ['<1>before', '<3>after'], passed: 1, held: 0 });
    const counted = taken([`<1>before\n${String(3 + 3 * long.length)} <2>${long}`, long, `${long}<3>after\n`]);
    expect(counted).to.deep.equal({ frames: ['<1>before', '<3>after'], passed: 1, held: 0 });
    const framer = new StreamFramer(() => undefined);
    for (let i = 0; i < 50; i++) {
      framer.push(Buffer.from(long));
      expect(framer.held).to.be.at.most(MAX_FRAME_BYTES);
    }
  });

  it('cost as much byte by byte as they have bytes, not their square', () => {
    const line = Buffer.from(`<13>${'x'.repeat(60_000)}\n`);
    const counted = Buffer.concat([Buffer.from(`${String(line.length - 1)} `), line.subarray(0, -1)]);
    const framer = new StreamFramer(() => undefined);
    const began = cpuMs();
    let frames = 0;
    for (const stream of [line, counted])
      for (let round = 0; round < 10; round++)
        for (let at = 0; at < stream.length; at++) if (framer.push(stream.subarray(at, at + 1)).length > 0) frames += 1;
    expect(frames).to.be.at.least(19);
    // it would be 70 GB to copy
    expect(cpuMs() - began).to.be.below(3000);
  });

  it('are never more bytes than came, and nothing throws, whatever comes', () => {
    const piece = fc.oneof(fc.uint8Array({ maxLength: 30 }), fc.constantFrom('<13>', '12 <1>ab', '\n', '99999999 <1>', '0 <1>', ' ', '7 '));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const chunks = pieces.map((one) => Buffer.from(one as string));
        const framer = new StreamFramer(() => undefined);
        const out = [...chunks.map((chunk) => framer.push(chunk).length), framer.end().length].reduce((sum, length) => sum + length, 0);
        expect(out).to.be.at.most(chunks.reduce((sum, { length }) => sum + length, 0));
      }),
    );
  });
});

describe('keys in structured data', () => {
  const by = (text: string): (readonly [string | null, string[], number])[] =>
    framesByKey(Buffer.from(text)).map(({ key, body, frames }) => [key, framesOf(body), frames] as const);

  it('part the frames, and are not in what is left of them', () => {
    expect(
      by(
        '<13>1 - h a - - [logweir@32473 key="one_key-1"] hello\n<13>1 - h a - - [x@1 a="b"][logweir@1 key="two"][y@1 c="d"] there\n<13>1 - h a - - - none\nplain\n',
      ),
    ).to.deep.equal([
      ['one_key-1', ['<13>1 - h a - - - hello'], 1],
      ['two', ['<13>1 - h a - - [x@1 a="b"][y@1 c="d"] there'], 1],
      [null, ['<13>1 - h a - - - none', 'plain'], 2],
    ]);
  });

  it('are none in a message, in a value, of another element, or in another form of frame', () => {
    for (const frame of [
      '<13>1 - h a - - - [logweir@1 key="k"] hello',
      '<13>1 - h a - - [x@1 a="[logweir@1 key=\\"k\\"\\]"] hello',
      '<13>1 - h a - - [logweir@1 key="k',
      '<13>1 - h a - - [logweir key="k"] hello',
      '<13>1 - h a - - [logweir@1 key="k" more="x"] hello',
      '<13>1 - h a - - [logweir@1 key="k;DROP"] hello',
      '<13>Nov 28 10:00:00 h a: [logweir@1 key="k"] hello',
      '<13>1 - [logweir@1 key="k"]',
    ])
      expect(by(`${frame}\n`)).to.deep.equal([[null, [frame], 1]]);
  });

  it('leave each frame one frame, whatever line feeds it has', () => {
    const frame = '<13>1 - h a - - [logweir@1 key="k"] two\nlines';
    expect(by(`${String(frame.length)} ${frame}`)).to.deep.equal([['k', ['<13>1 - h a - - - two\nlines'], 1]]);
    expect(countFrames(Buffer.from(`${String(frame.length)} ${frame}<1>x\n`))).to.equal(2);
  });
});
