import { GATES } from '../../features/table.js';

/** Fields whose gates are off by default in release 1.32 are ignored, even if `--feature-gates` enables them. */
const isOffByDefault = (gate: string): boolean => GATES.get(gate)?.isOnByDefault === false;

/** Whether all of the comma-separated gates are off. */
export const isOff = (gates: string | undefined): boolean => gates?.split(',').every(isOffByDefault) ?? false;
