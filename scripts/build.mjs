/** `npm run build`: installs and compiles what is stale. */
import { build, install } from './project.mjs';

await install();
await build();
