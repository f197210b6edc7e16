// The house's own rules for the linter (.oxlintrc.json).
import { rooms } from './rooms.js';
import { words } from './words.js';

export default { meta: { name: 'logweir' }, rules: { rooms, words } };
