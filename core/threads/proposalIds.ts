import { MOST_IDS } from './inFlight.js';

/**
 * The id of a proposal contains the number of the front end that waits for the verdict: that of the main thread has the
 * number 0, those of listening threads have the numbers from 1 on. Ids stay safe integers for up to 127 front ends.
 */

/** The number of the front end of the main thread. */
export const MAIN_FRONT = 0;

/** The id for the writer of the proposal with the id `own` in a front end. */
export const proposalId = (front: number, own: number): number => front * MOST_IDS + own;

/** The number of the front end that made a proposal. */
export const frontOf = (proposal: number): number => Math.floor(proposal / MOST_IDS);

/** The id that a proposal has in its front end. */
export const ownId = (proposal: number): number => proposal % MOST_IDS;
