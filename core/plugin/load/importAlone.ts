/**
 * A program that imports the module of a plugin, by its URL: `errorPlace.ts` runs it to find the place of syntax
 * errors.
 */
import { provideOwnCopy } from './ownCopy.js';

const url = process.argv[2]!;
await provideOwnCopy(url);
await import(url);
