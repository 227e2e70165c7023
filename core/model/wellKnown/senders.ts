import { Refusal } from '../refusal.js';

/** The group with unrestricted access (spec, "Authorization: modes and configuration"). */
export const MASTERS_GROUP = 'system:masters';

/** 401 without a reason: a sender learns nothing of what is wrong with its credentials. */
export const unauthorized = (): Refusal => new Refusal('Unauthorized', 'Unauthorized');
