import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';

/** The blocks of code of a guide, in one language. */
export const blocksOf = (guide: string, language: string): string[] =>
  [
    ...readFileSync(`docs/guides/${guide}.md`, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs')),
  ].map(match => match[1]!);

/** Programs of guides, as modules inside of the package, so that `capstan` is resolved as for an installed plugin. */
export class Programs {
  readonly directory = mkdtempSync(resolve('dist/guide-'));

  /** Writes a program in TypeScript as a module that can be loaded. Returns its path. */
  write(name: string, code: string): string {
    const file = join(this.directory, `${name}.mjs`);
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
    writeFileSync(file, ts.transpileModule(code, { compilerOptions }).outputText);
    return file;
  }

  /** Runs a module. Returns its output. */
  async run(file: string): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [basename(file)], { cwd: this.directory });
    return stdout;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}

/** The compiler errors of programs, as users see them in their editors. */
export function typeErrors(files: ReadonlyMap<string, string>, directory: string): string[] {
  for (const [name, code] of files) writeFileSync(join(directory, name), code);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
  };
  const program = ts.createProgram(
    [...files.keys()].map(name => join(directory, name)),
    options,
  );
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) =>
        `${basename(file?.fileName ?? '')}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
}
