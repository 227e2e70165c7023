import { Refusal } from '../refusal.js';

/** The group with unrestricted access (spec, "Authorization: modes and configuration"). */
export const MASTERS_GROUP = 'system:masters';

/**
 * Shared, because each authenticator that does not know a credential throws it, and capturing a stack trace takes long.
 */
const UNAUTHORIZED = Object.freeze(new Refusal('Unauthorized', 'Unauthorized'));

/** 401 without a reason: a sender must not learn why its credentials are invalid. */
export const unauthorized = (): Refusal => UNAUTHORIZED;
