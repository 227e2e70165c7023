/** `npm run build`: installs and compiles if stale. */
import { build, install } from './project.mjs';

await install();
await build();
