export { completeChunks, count, RawClient, type RawTarget } from '../../core/testing/rawClient.js';
