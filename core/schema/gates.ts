import { GATES } from '../features/table.js';

/** Fields whose gates are off by default in release 1.32 are ignored, whatever `--feature-gates` says. */
const isOffByDefault = (gate: string): boolean => GATES.get(gate)?.isOnByDefault === false;

/** Whether all of the comma-separated gates are off. */
export const isOff = (gates: string | undefined): boolean => gates?.split(',').every(isOffByDefault) ?? false;
