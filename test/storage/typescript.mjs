// Lets a child process of a test run the sources as they are: `node --import <this file> program.mjs`.
import { register } from 'node:module';

register(new URL('./typescriptHooks.mjs', import.meta.url));
