import { expect } from 'chai';
import { lastLogLine, notification } from '../../main/last-log-line.ts';

describe('last words', () => {
  const ok = (text: string, words: string): void => {
    it(`of ${JSON.stringify(text)}`, () => expect(notification(text)).to.equal(words));
  };
  ok('one\ntwo\n', 'two');
  ok('', '');
  ok('{"level":60,"msg":"It did not start."}\n', 'It did not start.');
  ok('{"level":60,"err":{"message":"no broker"},"msg":"It did not start."}\n', 'It did not start. no broker');
  ok('{"level":60}\n', '{"level":60}');
  ok(
    'file.ts:3\n  throw x\n\nError: The configuration is wrong: a; b.\n    at x\n\nNode.js v20.20.2\n',
    'The configuration is wrong: a; b.',
  );
  ok('KafkaJSError [Broken]: gone\n    at x\n\nNode.js v22.1.0\n', 'gone');
  ok("Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'x'\n    at y\n\nNode.js v20.20.2\n", "Cannot find module 'x'");
  it('of a file that is not there', () => expect(lastLogLine('/nowhere/x.log')).to.equal('see /nowhere/x.log'));
});
