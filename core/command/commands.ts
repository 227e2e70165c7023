import { ConfigError } from '../api/point.js';
import { nearest } from '../model/nearest.js';

/** A flag of a command other than `serve`. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** Whether it may be repeated: its value is a list. */
  readonly multiple?: true;
  /** The placeholder for the value in the help; absent for booleans. */
  readonly placeholder?: string;
  /** The value may be omitted. */
  readonly isOptional?: boolean;
  readonly help: string;
}

/** One command, for parsing, help and completions. */
export interface Command {
  /** The words after `capstan`: `store check`. */
  readonly name: string;
  /** The arguments that are not flags, as the help shows them. */
  readonly operands?: string;
  readonly summary: string;
  readonly flags?: { readonly [name: string]: CommandFlag };
  /** Takes the flags of a server. */
  readonly takesSettings?: true;
}

const file = (help: string): CommandFlag => ({ type: 'string', placeholder: 'FILE', help });
const directory = (help: string): CommandFlag => ({ type: 'string', placeholder: 'DIR', help });
const words = (placeholder: string, help: string): CommandFlag => ({
  type: 'string',
  placeholder,
  help: `${help}; repeatable`,
  multiple: true,
});
const truth = (help: string): CommandFlag => ({ type: 'boolean', help });

const SERVER = {
  'data-dir': directory('data directory of the running server (./.capstan)'),
  kubeconfig: file("how to reach the server (the administrator's in the data directory; without one, KUBECONFIG)"),
};
const OUTPUT: CommandFlag = {
  type: 'string',
  short: 'o',
  placeholder: 'FORM',
  help: 'table, wide, yaml, json or name (table)',
};
const NAMESPACE: CommandFlag = { type: 'string', short: 'n', placeholder: 'NAME', help: 'namespace (default)' };
const SELECTION = {
  namespace: NAMESPACE,
  'all-namespaces': { ...truth('objects of all namespaces'), short: 'A' },
  selector: { type: 'string', short: 'l', placeholder: 'LABELS', help: 'only objects with labels, such as app=web' },
  output: OUTPUT,
} as const satisfies { readonly [name: string]: CommandFlag };
const STOPPED = { 'data-dir': directory('data directory of the stopped server; required') };

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'run the server in the foreground (the default)',
    flags: {
      watch: truth('reload plugins and configuration when their files change, for development'),
      inspect: {
        type: 'string',
        placeholder: 'ADDRESS',
        isOptional: true,
        help: 'let a debugger connect at PORT or HOST:PORT; it can run any code in the server (127.0.0.1:9229)',
      },
    },
    takesSettings: true,
  },
  {
    name: 'demo',
    summary: 'fill a server with a small world, with a controller and some traffic',
    flags: {
      once: truth('end when all is made, instead of running until Ctrl-C'),
      remove: truth('remove what it has made'),
      ...SERVER,
    },
  },
  { name: 'status', summary: 'print whether a server is ready, and what it holds', flags: SERVER },
  { name: 'top', summary: 'show rates, latencies, watches and memory of a server, live on a terminal', flags: SERVER },
  {
    name: 'get',
    operands: '[KIND [NAME]]',
    summary: 'print objects; without a kind, the kinds of the server',
    flags: { ...SELECTION, ...SERVER },
  },
  {
    name: 'apply',
    summary: 'create or change objects as in files, by server-side apply',
    flags: {
      filename: { ...words('FILE', 'YAML or JSON documents, - for standard input; required'), short: 'f' },
      namespace: { ...NAMESPACE, help: 'namespace of objects that name none (default)' },
      'force-conflicts': truth('take over fields that others own'),
      ...SERVER,
    },
  },
  {
    name: 'watch',
    operands: 'KIND [NAME]',
    summary: 'print objects, and each change until Ctrl-C',
    flags: { ...SELECTION, ...SERVER },
  },
  {
    name: 'why',
    operands: 'ID | VERB KIND [NAME]',
    summary: 'explain a refusal or write by its audit id, or whether somebody may do something',
    flags: {
      as: { type: 'string', placeholder: 'USER', help: 'the user that the question is about (you)' },
      'as-group': words('GROUP', 'a group of that user'),
      namespace: NAMESPACE,
      'all-namespaces': { ...truth('a question about all namespaces'), short: 'A' },
      output: { ...OUTPUT, help: 'text, yaml or json (text)' },
      ...SERVER,
    },
  },
  {
    name: 'convert',
    operands: '[FILE…]',
    summary: 'rewrite manifests: removed and deprecated versions become those that replace them',
    flags: {
      filename: { ...words('FILE', 'YAML or JSON documents, - for standard input; required'), short: 'f' },
      'output-version': {
        type: 'string',
        placeholder: 'VERSION',
        help: 'group/version of all objects whose kind has it, in place of the preferred one',
      },
      output: { type: 'string', short: 'o', placeholder: 'FORM', help: 'yaml or json (that of the file)' },
      naming: {
        type: 'string',
        placeholder: 'NAMES',
        help: 'naming of the groups: neutral or kubernetes (that of the files)',
      },
    },
  },
  {
    name: 'lint-api',
    operands: '[FILE…]',
    summary: 'check definitions of custom kinds against the rules of the deprecation policy',
    flags: {
      filename: {
        ...words('FILE', 'CustomResourceDefinitions in YAML or JSON, - for standard input; required'),
        short: 'f',
      },
      against: words('FILE', 'the same definitions in the release before'),
      output: { type: 'string', short: 'o', placeholder: 'FORM', help: 'text or json (text)' },
    },
  },
  { name: 'store check', summary: 'verify the files of a stopped server', flags: STOPPED },
  {
    name: 'store recover',
    summary: 'recover the readable data of damaged files of a stopped server',
    flags: { ...STOPPED, 'accept-loss': truth('give up data that cannot be read') },
  },
  {
    name: 'store rewrite',
    summary: 'encrypt values again as the encryption file says; takes the flags of the server',
    takesSettings: true,
  },
  {
    name: 'store migrate',
    operands: '[KIND…]',
    summary: 'store the objects of a running server in the current versions of their kinds',
    flags: SERVER,
  },
  { name: 'snapshot save', operands: 'FILE', summary: 'take a snapshot of a running server', flags: SERVER },
  {
    name: 'snapshot restore',
    operands: 'FILE',
    summary: 'create a data directory from a snapshot',
    flags: { 'data-dir': directory('the new data directory; required') },
  },
  { name: 'snapshot status', operands: 'FILE', summary: 'verify a snapshot' },
  {
    name: 'auth reconcile',
    summary: 'make roles and bindings as in a file',
    flags: {
      filename: { ...file('YAML or JSON documents, - for standard input; required'), short: 'f' },
      ...SERVER,
      'remove-extra-permissions': truth('remove permissions of roles that the file does not have'),
      'remove-extra-subjects': truth('remove subjects of bindings that the file does not have'),
      'dry-run': truth('print what would change'),
    },
  },
  {
    name: 'kubeconfig',
    summary: "write how clients reach a server, and who they are; without flags, the administrator's",
    flags: {
      ...SERVER,
      server: { type: 'string', placeholder: 'URL', help: 'URL of the server or of a proxy (that of --kubeconfig)' },
      'certificate-authority': file('CA of the server (that of --kubeconfig)'),
      'tls-server-name': { type: 'string', placeholder: 'NAME', help: 'name in the certificate of the server' },
      'proxy-url': { type: 'string', placeholder: 'URL', help: 'proxy through which clients reach the server' },
      user: { type: 'string', placeholder: 'NAME', help: 'name of the user in the file (user)' },
      'token-file': file('file with a bearer token, - for standard input'),
      'client-certificate': file('certificate of the client'),
      'client-key': file('its private key'),
      'oidc-issuer-url': {
        type: 'string',
        placeholder: 'URL',
        help: 'sign in at this provider, with kubectl oidc-login',
      },
      'oidc-client-id': { type: 'string', placeholder: 'ID', help: 'client of the provider' },
      'oidc-extra-scope': words('SCOPE', 'further scope to ask the provider for, such as email'),
      'exec-command': { type: 'string', placeholder: 'COMMAND', help: 'program that prints an ExecCredential' },
      'exec-arg': words('ARG', 'argument of that program, or of kubectl oidc-login'),
      'exec-env': words('NAME=VALUE', 'environment variable of that program'),
      'exec-interactive-mode': { type: 'string', placeholder: 'MODE', help: 'Never, IfAvailable (default) or Always' },
      'exec-provide-cluster-info': truth('tell the program which server it is for'),
      naming: { type: 'string', placeholder: 'NAMING', help: 'naming that the program speaks: neutral or kubernetes' },
      output: { ...file('written with mode 0600 (standard output)'), short: 'o' },
    },
  },
  {
    name: 'exec-credential',
    summary: "print an ExecCredential with a user's credentials, running the plugin that the kubeconfig names",
    flags: {
      kubeconfig: file('kubeconfig with the user; required'),
      context: { type: 'string', placeholder: 'NAME', help: 'context with the user (the current one)' },
    },
  },
  {
    name: 'plugins list',
    summary: 'print the plugins of a server, in the order in which they are asked',
    takesSettings: true,
  },
  {
    name: 'plugin init',
    operands: 'NAME',
    summary: 'write a package with a plugin, its tests and scripts',
    flags: { point: { type: 'string', placeholder: 'POINT', help: 'what the plugin is (validator)' } },
  },
  {
    name: 'cel',
    operands: '[EXPRESSION]',
    summary: 'check and evaluate an expression, or the expressions of a file of tables',
    flags: {
      data: file('JSON or YAML with self and oldSelf'),
      schema: file('schema of the data, or a CustomResourceDefinition with it'),
      tables: file('JSON with tables of expressions, each of which is evaluated'),
      'compatibility-version': { type: 'string', placeholder: 'VERSION', help: 'release whose library is used (1.32)' },
    },
  },
  { name: 'completion', operands: 'bash|zsh|fish', summary: 'print a script that completes commands and flags' },
  { name: 'version', summary: 'print the version' },
];

/**
 * The flags of a command, or of all commands that begin with a word: `store check`, `store`. They have the form that
 * `parseArgs` of Node.js takes.
 */
export function flagsOf(command: string): { [name: string]: Pick<CommandFlag, 'type' | 'short' | 'multiple'> } {
  const members = COMMANDS.filter(({ name }) => name === command || name.startsWith(`${command} `));
  return Object.fromEntries(
    members.flatMap(({ flags = {} }) =>
      Object.entries(flags).map(([name, { type, short, multiple }]) => [
        name,
        { type, ...(short !== undefined && { short }), ...(multiple && { multiple }) },
      ]),
    ),
  );
}

/** The words that may follow `words` in the name of a command. */
export function wordsAfter(words: readonly string[]): readonly string[] {
  const names = COMMANDS.map(({ name }) => name.split(' ')).filter(name => words.every((word, i) => name[i] === word));
  return [...new Set(names.flatMap(name => name.slice(words.length, words.length + 1)))];
}

/** Throws ConfigError if no command begins with the first word, or if the second word is probably misspelt. */
export function checkCommand([first = '', second = '']: readonly string[]): void {
  const known = wordsAfter([]);
  if (!known.includes(first)) {
    const best = nearest(first, known);
    const fix = best === undefined ? `the commands are ${known.join(', ')}` : `did you mean capstan ${best}?`;
    throw new ConfigError(first, `unknown command; ${fix}`);
  }
  const actions = wordsAfter([first]);
  const best = actions.includes(second) || second === '' ? undefined : nearest(second, actions);
  if (best !== undefined)
    throw new ConfigError(`${first} ${second}`, `unknown command; did you mean capstan ${first} ${best}?`);
}
