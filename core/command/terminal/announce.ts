import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { RunningServer } from '../../server/start.js';
import type { NamingName } from '../../naming.js';
import { type Style, styleOf } from './style.js';

/** Whether a program is in PATH. */
function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** A text as one word of a shell. */
const quote = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The shell command that sets the kubeconfig for later commands. */
const exportOf = (kubeconfig: string): string =>
  process.platform === 'win32'
    ? `$env:KUBECONFIG = '${kubeconfig.replaceAll("'", "''")}'`
    : `export KUBECONFIG=${quote(kubeconfig)}`;

/** Commands to type next, in another terminal. */
function nextSteps(kubeconfig: string, naming: NamingName, style: Style): string[] {
  const kubectl = naming === 'kubernetes' && isInstalled('kubectl') ? 'kubectl' : 'npx capstan';
  const steps = [
    [exportOf(kubeconfig), ''],
    [`${kubectl} get namespaces`, 'the objects that are there'],
    ['npx capstan demo', 'a small world to look at'],
  ] as const;
  return [
    '',
    style.faint('next, in another terminal:'),
    ...steps.map(([command, why]) =>
      why ? `  ${style.command(command.padEnd(28))}${style.faint(`# ${why}`)}` : `  ${style.command(command)}`,
    ),
  ];
}

/**
 * Prints how to reach a server, and the next commands. With neutral names, it also prints that kubectl and client
 * libraries need upstream's names.
 */
export function announce(server: RunningServer, naming: NamingName, out: (line: string) => void): void {
  const style = styleOf();
  out(`listening on ${style.strong(server.url)}${server.httpUrl ? ` and ${style.strong(server.httpUrl)}` : ''}`);
  if (server.kubeconfigPath) out(`kubeconfig ${server.kubeconfigPath}`);
  if (server.consoleUrl) out(`console ${style.strong(server.consoleUrl)} (signs in once, within 10 minutes)`);
  if (naming === 'neutral')
    out('names are neutral: kubectl and client libraries need --naming=kubernetes, from the first start on');
  out(`store ${server.storeName}`);
  out(style.good(`ready in ${Math.round(server.readyMs)} ms`));
  if (server.kubeconfigPath) for (const line of nextSteps(server.kubeconfigPath, naming, style)) out(line);
}
