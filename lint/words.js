import path from 'node:path';

/**
 * Words that strings of the program (log lines, errors, help), its identifiers and its files' names do not use, and what an engineer of
 * this field expects instead. docs/glossary.md has the terms that they do use.
 */
const WORDS = [
  [/(?<!there )\b(?:is|are|was|were) no (?!longer\b|such\b)(?=\w)/i, 'is not a …; must be a …'],
  [/\banew\b/, 'again'],
  [/\bfor good\b/, 'permanently'],
  [/\b(?:stands?|stood) still\b/, 'is halted'],
  [/\b(?:log|topic) (?:must|may) (?:take|not take)\b/, 'ingest is paused, ingest has resumed'],
  [/\blost its end\b/, 'log truncation, was truncated'],
  [/\bmend(?:s|ed|ing)?\b/, 'fix'],
  [/\b(?:nobody|somebody|whoever)\b/i, 'who it is, or no one'],
  [/\bbeside\b/, 'next to, in addition to'],
  [/\bours\b/, 'whose it is'],
  [/(?<!dead[- ])\bletter of (?:it|them)\b|\bbur(?:y|ies|ied)\b/, 'dead letter, dead-letter'],
  [/\bparcels?\b/, 'pending record'],
  [/\b(?:a|no|the) texts?\b|\bof texts\b/, 'string'],
  [/\b(?:told|tells?|says?|said|asked)\b/, 'report, publish, request, return'],
  [/\b(?:tail|stream|time) is over\b/, 'has ended'],
  [/\bin any case\b/, 'case-insensitive'],
  [/\bexactly so\b/, 'case-sensitive'],
  [/\bso many\b/, 'the number'],
  [/\bback again\b/, 'recovered'],
  [/\bis away\b/, 'is unavailable'],
  [/\bdoubtful\b/, 'in doubt'],
  [/\blets? go\b/, 'discard'],
  [/\blast words\b/, 'last log line'],
  [/\blast word\b/, 'the latest row, record or value'],
  [/\bunread age\b/, 'consumer lag in seconds'],
  [/\breflected\b/, 'settled'],
  [/\b(?:is|are) gone\b|\bhas left\b/, 'is deleted, has closed the connection, no longer exists'],
];

/** The first word of a string that stands in the list, and what to write instead; undefined where there is none. */
export function wordToAvoid(text) {
  // code in a string, such as a statement of SQL or a program, has no sentences
  if (!/[a-z]+ [a-z]+/i.test(text) || /\bSELECT\b|^import /.test(text)) return undefined;
  for (const [pattern, instead] of WORDS) {
    const found = pattern.exec(text);
    if (found !== null) return { word: found[0], instead };
  }
  return undefined;
}

/** Names that are in the list, and what forces them: they are on topics, in tables, or in states that are stored. */
const FORCED_NAMES = new Map([
  ['isGone', 'a member of records of partials.v1'],
  ['told', 'a column of patterns.v1, and a member of stored states of alerting'],
]);

/** The words of a name: `lastSeenAt`, `MOST_TEXTS`, `last-log-line`. */
const wordsOf = (name) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replace(/[^A-Za-z]+/g, ' ')
    .trim()
    .toLowerCase();

/** The first word of an identifier or a file's name that is in the list, and what to write instead; undefined where there is none. */
export function wordToAvoidInName(name) {
  if (FORCED_NAMES.has(name)) return undefined;
  const text = wordsOf(name);
  for (const [pattern, instead] of WORDS) {
    const found = pattern.exec(text);
    if (found !== null) return { word: found[0], instead };
  }
  return undefined;
}

/** What was found of a name; each is in many files. */
const KNOWN_NAMES = new Map();

function inName(name) {
  if (!KNOWN_NAMES.has(name)) KNOWN_NAMES.set(name, wordToAvoidInName(name));
  return KNOWN_NAMES.get(name);
}

/** The rule of the linter. */
export const words = {
  create(context) {
    const report = (node, found) => {
      if (found !== undefined) context.report({ node, message: `"${found.word}": write ${found.instead} (lint/words.js).` });
    };
    const check = (node, text) => report(node, wordToAvoid(text));
    const reported = new Set();
    const checkName = (node) => {
      const found = inName(node.name);
      if (found === undefined || reported.has(node.name)) return;
      reported.add(node.name);
      report(node, found);
    };
    return {
      Program: (node) => report(node, inName(path.basename(context.filename).replace(/\.\w+$/, ''))),
      Identifier: checkName,
      PrivateIdentifier: checkName,
      Literal: (node) => {
        if (typeof node.value === 'string' && node.parent.type !== 'ImportDeclaration') check(node, node.value);
      },
      TemplateLiteral: (node) => {
        check(node, node.quasis.map(({ value }) => value.cooked ?? value.raw).join('…'));
      },
    };
  },
};
