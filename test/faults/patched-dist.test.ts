import { expect } from 'chai';
import { patched } from './patched-dist.ts';

describe('patched', () => {
  it('replaces the one place, however it is broken into lines', () => {
    expect(patched('a\n  if (x)\n    return;\nb', 'if (x) return;', 'go();', 'f.js')).to.equal('a\n  go();\nb');
  });

  it('takes signs as they are', () => {
    expect(patched('const s = `${a}:${b}`;', '`${a}:${b}`', "'$&'", 'f.js')).to.equal("const s = '$&';");
  });

  for (const [why, text] of [
    ['is not there', 'if (y) return;'],
    ['is there twice', 'if (x) return; if (x) return;'],
  ] as const) {
    it(`throws where the piece ${why}`, () => {
      expect(() => patched(text, 'if (x) return;', '', 'bus/queue.js')).to.throw('The patch of bus/queue.js is out of date');
    });
  }
});
