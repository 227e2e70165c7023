// Lets a child process of a test run the TypeScript sources directly: `node --import <this file> program.mjs`.
import { register } from 'node:module';

register(new URL('./typescriptHooks.mjs', import.meta.url));
