import { from, type Section } from './limit.ts';

const plans = from('api/tenants/plans.ts');
const places = from('api/ai/at-once.ts');
const model = from('api/ai/model-client.ts');
const evidence = from('api/ai/evidence.ts');
const tool = from('api/mcp/bound-tool.ts');
const CREDITS = 'test/api/limits/ai-credits.test.ts';
const MODEL = 'test/api/ai/model-client.test.ts';
const SERVICE = 'test/e2e/instance/long/ai.e2e.test.ts';
const MCP = 'test/e2e/instance/mcp.e2e.test.ts';

/** What models read and write. */
export const AI: Section = {
  title: 'AI and MCP',
  rows: [
    {
      what: 'AI credits of a UTC day, of the smallest plan with any',
      of: 'a tenant',
      bound: [
        plans('SMALL_CREDITS', 'in all', 'daily'),
        plans('SMALL_CREDITS', 'of deep RCA', 'deepRca'),
        plans('SMALL_CREDITS', 'of playbook import', 'playbookImport'),
      ],
      by: 'the plan',
      beyond: '429 until 00:00 UTC',
      others: 'nothing',
      test: CREDITS,
    },
    {
      what: 'AI requests at once',
      of: 'a tenant',
      bound: [places('MAX_AT_ONCE', '')],
      beyond: '429',
      others: 'nothing',
      test: SERVICE,
    },
    {
      what: 'The same',
      of: 'all tenants',
      bound: [places('MAX_OF_ALL', '')],
      beyond: '429',
      others: 'the same',
      test: 'test/api/ai/at-once.test.ts',
    },
    {
      what: 'A question; evidence that the model is given, and one part of it',
      of: 'a request',
      bound: [
        from('api/ai/parameters.ts')('MAX_QUESTION', 'characters'),
        evidence('MAX_EVIDENCE_CHARACTERS', 'characters'),
        evidence('MAX_PART_CHARACTERS', 'characters'),
      ],
      beyond: '400 for a question; evidence is cut.',
      others: 'nothing',
      test: SERVICE,
    },
    {
      what: 'Playbooks that an explanation is given',
      of: 'a request',
      bound: [evidence('MOST_PLAYBOOKS', '')],
      beyond: 'The oldest that fit.',
      others: 'nothing',
      test: 'test/api/ai/evidence.test.ts',
    },
    {
      what: 'A message of MCP',
      of: 'a request',
      bound: [from('api/mcp/tool-server.ts')('MAX_CALL_BYTES', 'bytes')],
      beyond: '413',
      others: 'nothing',
      attack: ['mcp-large', 'mcp-largest'],
      test: MCP,
    },
    {
      what: "The model's answer",
      of: 'a request',
      bound: [
        model('MAX_MODEL_CHARACTERS', 'characters'),
        model('MAX_MODEL_TOKENS', 'tokens'),
        model('MAX_EVENT_BYTES', 'bytes of an event'),
      ],
      beyond: 'It is cut, and the answer says so; an event that is larger: 502.',
      others: 'nothing',
      test: MODEL,
    },
    {
      what: 'Time of the model: to its first word, and to its last',
      of: 'a request',
      bound: [model('MAX_FIRST_WAIT_MS', 'ms'), model('MAX_MODEL_MS', 'ms')],
      beyond: '504',
      others: 'nothing',
      test: MODEL,
    },
    {
      what: 'Characters of the answer of a tool, and where a page of it begins',
      of: 'a request',
      bound: [tool('MAX_ANSWER_CHARACTERS', ''), tool('MAX_FROM_CHARACTER', '')],
      beyond: 'The answer is cut, and names the next page; 400 for more.',
      others: 'nothing',
      test: MCP,
    },
  ],
};
