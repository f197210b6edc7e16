import type { Resolution } from '../../alerts/resolution.ts';
import type { Position } from '../base/position.ts';

/** A user's resolution of an alert, as a merger takes it. */
export type ResolutionInput = Position & Resolution & { readonly kind: 'resolution' };
