/** `npm run typecheck`: checks all types, without writing anything but those of the kinds. */
import { writeKindTypes } from './kindTypes.mjs';
import { install, run, TYPESCRIPT } from './project.mjs';

await install();
await writeKindTypes();
process.exitCode = await run(process.execPath, [TYPESCRIPT, '--noEmit', '-p', 'tsconfig.json']);
