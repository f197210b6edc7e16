import type { Resolution } from '../book/resolution.ts';
import type { Position } from '../../processors/base/position.ts';

/** A user's resolution of an alert, as a merger takes it. */
export type ResolutionInput = Position & Resolution & { readonly kind: 'resolution' };
