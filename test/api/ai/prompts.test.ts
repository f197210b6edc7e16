import { expect } from 'chai';
import { queryIn } from '../../../api/ai/prompts.ts';

describe('the query in an answer of a model', () => {
  const cases: [answer: string, query: string][] = [
    ['service:web level:error', 'service:web level:error'],
    ['```logsql\nservice:web | stats count() n\n```', 'service:web | stats count() n'],
    ['Here it is:\n```\nservice:web\n```\nIt finds all.', 'service:web'],
    ['`service:web`', 'service:web'],
    ['LogsQL: service:web', 'service:web'],
    ['\n\n  a b  \nmore', 'a b'],
    ['', ''],
  ];
  for (const [answer, query] of cases) it(JSON.stringify(answer), () => expect(queryIn(answer)).to.equal(query));
});
