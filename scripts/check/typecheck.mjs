/** `npm run typecheck`: checks all types. It writes only the types of the kinds. */
import { writeKindTypes } from '../build/kindTypes.mjs';
import { install, run, TYPESCRIPT } from '../project.mjs';

await install();
await writeKindTypes();
for (const project of ['tsconfig.json', 'plugins/console/app/tsconfig.json'])
  process.exitCode ||= await run(process.execPath, [TYPESCRIPT, '--noEmit', '-p', project]);
