/** Go's templates as far as rules use them (https://pkg.go.dev/text/template): values, functions, pipelines, variables, `if` and `with`. */
import { functionOf } from './functions.ts';
import { TemplateError, type Node, type Operand, type Pipeline } from './tree.ts';

/** Parts of `if` and `with`, and parentheses, within each other. */
const MAX_DEPTH = 20;
const TOKEN =
  /\s*(?:(?<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?<number>[-+]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?))|(?<name>\$?[A-Za-z_]\w*(?:\.\w+)*|\$(?:\.\w+)*|\.(?:\w+(?:\.\w+)*)?)|(?<sign>:=|=|[()|,])|(?<end>$)|(?<other>.))/suy;
const COMMENT = /^\/\*.*\*\/$/s;

type Token = { readonly kind: 'string' | 'number' | 'name' | 'sign'; readonly text: string; readonly isTouching: boolean };

/** A string of the template, or an action between its braces. */
type Piece = { readonly isAction: boolean; readonly text: string };

/** Reads a template. Throws TemplateError. */
export function parseTemplate(source: string): readonly Node[] {
  const parser = new Parser(piecesOf(source));
  const nodes = parser.list(0);
  if (parser.closing !== null) throw new TemplateError(`unexpected {{${parser.closing}}}`);
  return nodes;
}

function piecesOf(source: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  while (at < source.length) {
    const open = source.indexOf('{{', at);
    if (open < 0) break;
    const close = endOfAction(source, open + 2);
    if (close < 0) throw new TemplateError('unclosed action');
    let text = source.slice(at, open);
    let action = source.slice(open + 2, close);
    if (/^-\s/.test(action)) [text, action] = [text.trimEnd(), action.slice(1)];
    const isTrimmed = /\s-$/.test(action);
    if (isTrimmed) action = action.slice(0, -1);
    pieces.push({ isAction: false, text }, { isAction: true, text: action.trim() });
    at = close + 2;
    if (isTrimmed) while (/\s/.test(source[at] ?? '')) at += 1;
  }
  pieces.push({ isAction: false, text: source.slice(at) });
  return pieces.filter(({ isAction, text }) => (isAction ? !COMMENT.test(text) : text !== ''));
}

/** Where the braces end that are not in a string; -1 for nowhere. */
function endOfAction(source: string, from: number): number {
  let quote = '';
  for (let at = from; at < source.length; at++) {
    const character = source[at] as string;
    if (quote !== '') {
      if (character === '\\' && quote === '"') at += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || character === '`') quote = character;
    else if (source.startsWith('}}', at)) return at;
  }
  return -1;
}

function tokensOf(action: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (;;) {
    const start = TOKEN.lastIndex;
    const { string, number, name, sign, end, other } = TOKEN.exec(action)?.groups ?? {};
    if (end !== undefined) return tokens;
    const text = string ?? number ?? name ?? sign;
    if (text === undefined) throw new TemplateError(`unexpected ${JSON.stringify(other ?? '')} in action`);
    const kind = string !== undefined ? 'string' : number !== undefined ? 'number' : name !== undefined ? 'name' : 'sign';
    tokens.push({ kind, text, isTouching: TOKEN.lastIndex - start === text.length });
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\', "'": "'" };

function stringOf(token: string): string {
  if (token.startsWith('`')) return token.slice(1, -1);
  return token.slice(1, -1).replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)/gs, (_all, escape: string) => {
    if (escape.length > 1) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    const found = ESCAPES[escape];
    if (found === undefined) throw new TemplateError(`invalid escape \\${escape}`);
    return found;
  });
}

class Parser {
  readonly #pieces: readonly Piece[];
  #at = 0;
  /** The `else` or `end` at which a list ended; null where nothing is left. */
  closing: string | null = null;
  #tokens: Token[] = [];

  constructor(pieces: readonly Piece[]) {
    this.#pieces = pieces;
  }

  /** Nodes up to `else` or `end`. */
  list(depth: number): Node[] {
    if (depth > MAX_DEPTH) throw new TemplateError(`more than ${String(MAX_DEPTH)} levels`);
    const nodes: Node[] = [];
    for (;;) {
      const piece = this.#pieces[this.#at++];
      this.closing = null;
      if (piece === undefined) return nodes;
      if (!piece.isAction) {
        nodes.push({ kind: 'text', text: piece.text });
        continue;
      }
      this.#tokens = tokensOf(piece.text);
      const [first] = this.#tokens;
      const word = first?.kind === 'name' ? first.text : '';
      if (word === 'end' || word === 'else') {
        this.#tokens.shift();
        this.closing = word;
        return nodes;
      }
      nodes.push(word === 'if' || word === 'with' ? this.#branch(word, depth) : this.#action());
    }
  }

  #branch(kind: 'if' | 'with', depth: number): Node {
    this.#tokens.shift();
    const [variable, sign] = this.#tokens;
    const name = sign?.text === ':=' && variable?.kind === 'name' && variable.text.startsWith('$') ? variable.text : null;
    if (name !== null) this.#tokens.splice(0, 2);
    const pipeline = this.#whole(depth);
    const then = this.list(depth + 1);
    if (this.closing === null) throw new TemplateError(`unclosed {{${kind}}}`);
    let otherwise: Node[] = [];
    if (this.closing === 'else') {
      const [next] = this.#tokens;
      if (next !== undefined && next.text !== 'if' && next.text !== 'with') throw new TemplateError(`unexpected ${next.text} behind else`);
      if (next !== undefined) return { kind, name, pipeline, then, otherwise: [this.#branch(next.text as 'if', depth + 1)] };
      otherwise = this.list(depth + 1);
      if ((this.closing as string | null) !== 'end') throw new TemplateError(`unclosed {{else}}`);
    }
    return { kind, name, pipeline, then, otherwise };
  }

  #action(): Node {
    const [variable, sign] = this.#tokens;
    if (variable?.kind === 'name' && variable.text.startsWith('$') && (sign?.text === ':=' || sign?.text === '=')) {
      this.#tokens.splice(0, 2);
      return { kind: 'set', name: variable.text, pipeline: this.#whole(0) };
    }
    return { kind: 'show', pipeline: this.#whole(0) };
  }

  /** A pipeline behind which nothing is. */
  #whole(depth: number): Pipeline {
    const pipeline = this.#pipeline(depth);
    const [rest] = this.#tokens;
    if (rest !== undefined) throw new TemplateError(`unexpected ${rest.text} in action`);
    return pipeline;
  }

  #pipeline(depth: number): Pipeline {
    if (depth > MAX_DEPTH) throw new TemplateError(`more than ${String(MAX_DEPTH)} levels`);
    const commands: Operand[][] = [this.#command(depth)];
    while (this.#tokens[0]?.text === '|' && this.#tokens[0].kind === 'sign') {
      this.#tokens.shift();
      commands.push(this.#command(depth));
    }
    return commands;
  }

  #command(depth: number): Operand[] {
    const operands: Operand[] = [];
    for (let token = this.#tokens[0]; token !== undefined; token = this.#tokens[0]) {
      if (token.kind === 'sign' && token.text !== '(') break;
      this.#tokens.shift();
      operands.push(this.#operand(token, depth));
    }
    const [first] = operands;
    if (first === undefined) throw new TemplateError('missing value for command');
    if (operands.length > 1 && first.kind !== 'function') throw new TemplateError("can't give argument to what is not a function");
    return operands;
  }

  #operand({ kind, text }: Token, depth: number): Operand {
    if (kind === 'string') return { kind: 'value', value: stringOf(text) };
    if (kind === 'number') return { kind: 'value', value: Number(text) };
    if (kind === 'sign') return this.#group(depth);
    if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' };
    if (text === 'nil') return { kind: 'value', value: null };
    const [head = '', ...fields] = text.split('.');
    if (head.startsWith('$')) return { kind: 'variable', name: head, fields };
    // the dot: what is shown where no `with` says otherwise
    if (head === '') return { kind: 'variable', name: '.', fields: fields.filter((field) => field !== '') };
    if (fields.length > 0 || functionOf(head) === undefined) throw new TemplateError(`function ${JSON.stringify(text)} not defined`);
    return { kind: 'function', name: head };
  }

  #group(depth: number): Operand {
    const pipeline = this.#pipeline(depth + 1);
    if (this.#tokens.shift()?.text !== ')') throw new TemplateError('unclosed left paren');
    const [next] = this.#tokens;
    const fields = next?.kind === 'name' && next.isTouching && next.text.startsWith('.') ? next.text.split('.').slice(1) : [];
    if (fields.length > 0) this.#tokens.shift();
    return { kind: 'group', pipeline, fields };
  }
}
