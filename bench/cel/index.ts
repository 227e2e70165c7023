/** Prints the figures of the expression engine. Run after a build: `node dist/bench/cel/index.js`. */
import { bytesPerRule, speeds } from './measure.js';

console.table(speeds(200));
console.log(`bytes per compiled rule: ${bytesPerRule()}`);
