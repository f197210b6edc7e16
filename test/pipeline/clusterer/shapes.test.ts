import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Shapes, fingerprintOf } from '../../../pipeline/clusterer/shapes.ts';
import { extent } from '../../extent.ts';
import { generatedMessages, sequence } from './generated-messages.ts';

function patternOf(shapes: Shapes, message: Buffer): string {
  shapes.read(message, 0, message.length);
  return [shapes.high, shapes.low].map((half) => half.toString(16).padStart(8, '0')).join('');
}

describe('the shapes of messages', () => {
  it('have the first 8 bytes of the SHA-256 of their template as their number', () => {
    const shapes = new Shapes();
    const pattern = patternOf(shapes, Buffer.from('order 5 paid in 12 ms'));
    expect(shapes.template()).to.equal('order <N> paid in <N>');
    expect(fingerprintOf('order <N> paid in <N>')).to.equal(createHash('sha256').update('order <N> paid in <N>').digest('hex'));
    expect(pattern).to.equal(fingerprintOf('order <N> paid in <N>').slice(0, 16));
  });

  it('say which shape is new', () => {
    const shapes = new Shapes();
    const read = (text: string): boolean => shapes.read(Buffer.from(text), 0, text.length);
    expect([read('a 1'), read('a 2'), read('b 1'), read('a 3'), read('')]).to.deep.equal([true, false, true, false, true]);
  });

  it('are the same in any order, in any process, with a memory of any size', () => {
    const messages = [...generatedMessages(extent(3000, 100_000), 5)];
    const large = new Shapes();
    const wanted = messages.map((message) => patternOf(large, message));
    const random = sequence(9);
    const workers = [new Shapes(4, 2048), new Shapes(64, 4096), new Shapes(), new Shapes(1024, 65_536)];
    for (let round = 0; round < messages.length * 2; round += 1) {
      const index = random(messages.length);
      const worker = workers[random(workers.length)] as Shapes;
      expect(patternOf(worker, messages[index] as Buffer)).to.equal(wanted[index]);
      expect(fingerprintOf(worker.template()).slice(0, 16)).to.equal(wanted[index]);
    }
  });

  it('are forgotten where others push them out, and kept where they are used', () => {
    const shapes = new Shapes(4, 2048);
    const read = (text: string): boolean => shapes.read(Buffer.from(text), 0, text.length);
    read('kept');
    for (const text of 'abcdefghijkl') {
      read(text);
      expect(read('kept')).to.equal(false);
    }
    expect(read('a')).to.equal(true);
  });

  it('hash the template as its UTF-8, also where the message is none', () => {
    const shapes = new Shapes();
    const pattern = patternOf(shapes, Buffer.from('bad \xff\xfe byte', 'latin1'));
    expect(pattern).to.equal(fingerprintOf('bad \ufffd\ufffd byte').slice(0, 16));
  });
});
