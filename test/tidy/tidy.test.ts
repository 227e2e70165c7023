import { describe, expect, it } from 'vitest';
import { APP, appSources, type Source, sourcesIn } from './files.js';

const CODE = ['core', 'plugins', 'workers'];
/** Tables of facts about kinds, which are long and contain upstream's package names. */
const TABLES = 'core/schema/table/';
/** Imports between plugin folders that existed before the rule. */
const CROSSING = new Set(['plugins/controllers/accounts/rbacControllers.ts imports plugins/authz/bootstrap/index.ts']);
/**
 * Files with brand names other than the naming table. Those in core/cel/lib are type names in expressions of clients;
 * those in core/command are flags and the name of the upstream server.
 */
const BRANDED = new Set([
  'core/naming.ts',
  'core/cel/lib/authorizer.ts',
  'core/cel/lib/format.ts',
  'core/cel/lib/quantity.ts',
  'core/cel/lib/semver.ts',
  'core/cel/lib/url.ts',
  'core/command/upstream/help.ts',
  'core/command/upstream/kubeApiserver.ts',
  'core/command/upstream/otherFlags.ts',
  'core/command/reference.ts',
]);
const BRAND = /kubernetes|k8s\.io|kube-/i;
/** Schema markers, client programs, flags with upstream's spelling, and the name of the setting itself. */
const ALLOWED =
  /x-kubernetes-[a-z-]*|'kube-apiserver-client'|kube_?config|kubectl|naming[A-Za-z]*\W+'?kubernetes'?|'neutral'\W+'kubernetes'|neutral or kubernetes/gi;

const breaking = (sources: readonly Source[], allowed: (imported: string, from: string) => boolean): string[] =>
  sources.flatMap(({ path, imports }) =>
    imports.filter(name => !allowed(name, path)).map(name => `${path} imports ${name}`),
  );

/** The parts of core that plugins may use. */
const USED_BY_PLUGINS =
  /^core\/(api|model|runtime|schema|cel|files|services\/(aggregation|encryption|webhooks|pki\/certificate(Request|Names)\.ts)|settings\/values\.ts|naming\.ts|limits\.ts)/;

const inProject = (name: string): boolean => /^(core|plugins|workers|bench|test|examples)\//.test(name);
const commentless = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm, '');

describe('house rules', () => {
  it('core/api depends only on core/model, core/runtime, limits, naming and the types of the kinds', () => {
    const allowed = (name: string): boolean =>
      /^(core\/(api\/|model\/|runtime\/|limits\.ts|naming\.ts)|kinds\/resources\.ts)/.test(name);
    expect(breaking(sourcesIn('core/api'), allowed)).toEqual([]);
  });

  it('core/model and core/runtime depend on no other part of the project', () => {
    const allowed = (name: string): boolean =>
      !inProject(name) || /^core\/(model\/|runtime\/|limits\.ts|naming\.ts)/.test(name);
    expect(breaking(sourcesIn('core/model', 'core/runtime'), allowed)).toEqual([]);
  });

  it('plugins import core/api, model, runtime, schema, cel, aggregation, webhooks, files, certificate requests and names, values of settings, limits, and their own folder', () => {
    const allowed = (name: string, from: string): boolean => {
      const own = from.split('/').slice(0, 2).join('/');
      return !inProject(name) || USED_BY_PLUGINS.test(name) || name.startsWith(`${own}/`);
    };
    expect(breaking(sourcesIn('plugins'), allowed).filter(crossing => !CROSSING.has(crossing))).toEqual([]);
  });

  it('no thread imports from the folder of another, and only core/server imports from any of them', () => {
    const threadOf = (path: string): string | undefined => /^workers\/([^/]+)\//.exec(path)?.[1];
    const allowed = (name: string, from: string): boolean => {
      const thread = threadOf(name);
      return thread === undefined || thread === threadOf(from) || from.startsWith('core/server/');
    };
    expect(breaking(sourcesIn(...CODE), allowed)).toEqual([]);
  });

  it('only the writer and the stores use the storage point', () => {
    const free = /^(workers\/writer|plugins\/storage|core\/api)\//;
    const sources = sourcesIn(...CODE).filter(({ path }) => !free.test(path));
    const touching = sources.filter(({ text }) =>
      /\bstorage\b[^;]*\}\s*from\s*'[^']*api\/(index|storage)\.js'/.test(text),
    );
    expect(
      touching.filter(({ text }) => /import\s*\{[^}]*[{,\s]storage[,\s}][^}]*\}/.test(text)).map(({ path }) => path),
    ).toEqual([]);
  });

  it('the app of the console imports only functions for texts from the server, and the server nothing from the app', () => {
    const allowed = (name: string): boolean =>
      !inProject(name) || name.startsWith(APP) || /^core\/model\/text\//.test(name);
    expect(breaking(appSources(), allowed)).toEqual([]);
    expect(breaking(sourcesIn(...CODE), name => !name.startsWith(APP))).toEqual([]);
  });

  it('the framework does not import from tests, benches or examples', () => {
    expect(breaking(sourcesIn(...CODE), name => !/^(bench|test|examples)\//.test(name))).toEqual([]);
  });

  it('brand names are only in the naming table', () => {
    const branded = [...sourcesIn(...CODE), ...appSources()]
      .filter(({ path }) => !BRANDED.has(path) && !path.startsWith(TABLES))
      .filter(({ text }) => BRAND.test(commentless(text).replace(ALLOWED, '')));
    expect(branded.map(({ path }) => path)).toEqual([]);
  });
});
