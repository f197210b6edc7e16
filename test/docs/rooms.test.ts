import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { importsOf, roomOf, ROOMS } from '../../lint/rooms.js';

const root = path.resolve(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/architecture.md'), 'utf8');
const names = Object.keys(ROOMS);

/** The rows of an import table: a room, and what it may import. */
function table(name: string): readonly (readonly [string, readonly string[]])[] {
  const text = new RegExp(`<!-- ${name}:begin -->([^]*)<!-- ${name}:end -->`).exec(page)?.[1] ?? '';
  return [...text.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => {
    const [room = '', list = ''] = row.split(' | ');
    return [room.replaceAll('`', ''), [...list.matchAll(/`([^`]+)`/g)].map(([, one = '']) => one)];
  });
}

describe('rooms', () => {
  it('are in the tables of docs/architecture.md as the linter has them', () => {
    const tableOf = (room: string): string => /^(?:api|logsql|promql|pipeline\/(?:bus|processors|alerting))(?=\/)/.exec(room)?.[0] ?? '';
    const linted = (house: string): readonly unknown[] => Object.entries(ROOMS).filter(([room]) => tableOf(room) === house);
    expect(table('rooms')).to.deep.equal(linted(''));
    expect(table('bus-rooms')).to.deep.equal(linted('pipeline/bus'));
    expect(table('processors-rooms')).to.deep.equal(linted('pipeline/processors'));
    expect(table('alerting-rooms')).to.deep.equal(linted('pipeline/alerting'));
    expect(table('logsql-rooms')).to.deep.equal(linted('logsql'));
    expect(table('promql-rooms')).to.deep.equal(linted('promql'));
    expect(table('api-rooms')).to.deep.equal(linted('api'));
  });

  it('import only rooms above them, so there is no circle', () => {
    const wrong = names.flatMap((room, place) =>
      importsOf(room)
        .filter((other) => !names.slice(0, place).includes(other))
        .map((other) => `${room} -> ${other}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('are folders, and every source is in one of them', () => {
    const tops = new Set(names.map((room) => room.split('/')[0] ?? ''));
    const sources = [...tops].flatMap((top) =>
      readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' })
        .map((file) => `${top}/${file}`)
        .filter((file) => /\.(ts|mjs)$/.test(file) && !file.startsWith('pipeline/wasm/assembly/')),
    );
    expect(sources.filter((file) => roomOf(file) === undefined)).to.deep.equal([]);
    expect(names.filter((room) => !sources.some((file) => roomOf(file) === room))).to.deep.equal([]);
  });

  it('are the longest prefix of a path', () => {
    expect(roomOf('api/live/tail-session.ts')).to.equal('api/live');
    expect(roomOf('api/live/match/row-test.ts')).to.equal('api/live/match');
    expect(roomOf('api/lively.ts')).to.equal(undefined);
    expect(roomOf('test/api/live/sockets.test.ts')).to.equal(undefined);
  });

  it('all of a house are meant by a star', () => {
    expect(importsOf('main')).to.include.members(['api/live', 'api/live/match', 'compose']);
    expect(importsOf('main').filter((room) => room.includes('*'))).to.deep.equal([]);
  });
});
