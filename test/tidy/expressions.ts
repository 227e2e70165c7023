import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { appSources, type Source, sourcesIn } from './files.js';

/** A regular expression of the program, with its position. */
export interface Expression {
  /** File and line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** The result of `expressionsIn`: the expressions, and positions at which the expression is only known at run time. */
export interface Found {
  readonly expressions: readonly Expression[];
  readonly unknown: readonly string[];
}

const isConstruction = (node: ts.Node): node is ts.NewExpression | ts.CallExpression =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp';

/** String methods that convert a string argument to an expression. */
const MAKERS = ['match', 'matchAll', 'search'];

const makesOfText = (node: ts.Node): boolean =>
  ts.isCallExpression(node) &&
  ts.isPropertyAccessExpression(node.expression) &&
  MAKERS.includes(node.expression.name.text) &&
  node.arguments.length === 1 &&
  (ts.isStringLiteralLike(node.arguments[0]!) || ts.isTemplateExpression(node.arguments[0]!));

/** The syntax of the program, by file. */
export class Program {
  readonly #files = new Map<string, ts.SourceFile>();

  constructor(sources: readonly Source[]) {
    for (const { path, text } of sources)
      this.#files.set(path, ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  }

  /** The sources in these folders, and those of the app of the console. */
  static of(...folders: readonly string[]): Program {
    return new Program([...sourcesIn(...folders), ...appSources()]);
  }

  expressions(): Found {
    const expressions: Expression[] = [];
    const unknown: string[] = [];
    for (const file of this.#files.values()) {
      const visit = (node: ts.Node): void => {
        const place = `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
        if (ts.isRegularExpressionLiteral(node) || isConstruction(node)) {
          const value = this.#evaluate(node, file);
          if (value instanceof RegExp) expressions.push({ place, source: value.source, flags: value.flags });
          else unknown.push(place);
        } else if (makesOfText(node)) unknown.push(place);
        ts.forEachChild(node, visit);
      };
      visit(file);
    }
    return { expressions, unknown };
  }

  /** The value of an expression that is composed only of module constants; undefined for others. */
  #evaluate(node: ts.Node, file: ts.SourceFile): unknown {
    const values = new Map<string, unknown>();
    const visit = (part: ts.Node): void => {
      if (ts.isIdentifier(part) && !values.has(part.text)) {
        const value = this.#constant(part.text, file);
        if (value !== undefined) values.set(part.text, value);
      }
      ts.forEachChild(part, visit);
    };
    visit(node);
    try {
      const { outputText } = ts.transpileModule(`return (${node.getText()});`, {});
      return new Function(...values.keys(), outputText)(...values.values());
    } catch {
      return undefined;
    }
  }

  /** The value of a constant of a module, or of one that it imports. */
  #constant(name: string, file: ts.SourceFile): unknown {
    for (const statement of file.statements) {
      if (ts.isVariableStatement(statement) && statement.declarationList.flags & ts.NodeFlags.Const)
        for (const { name: declared, initializer } of statement.declarationList.declarations)
          if (declared.getText() === name && initializer) return this.#evaluate(initializer, file);
      const imported = ts.isImportDeclaration(statement) ? this.#imported(name, statement, file) : undefined;
      if (imported !== undefined) return imported;
    }
    return undefined;
  }

  #imported(name: string, statement: ts.ImportDeclaration, file: ts.SourceFile): unknown {
    const names = statement.importClause?.namedBindings;
    const module = (statement.moduleSpecifier as ts.StringLiteral).text;
    if (!names || !ts.isNamedImports(names) || !module.startsWith('.')) return undefined;
    const found = names.elements.find(element => element.name.text === name);
    const target = this.#files.get(normalize(join(dirname(file.fileName), module)).replace(/\.js$/, '.ts'));
    return found && target ? this.#constant((found.propertyName ?? found.name).text, target) : undefined;
  }
}
