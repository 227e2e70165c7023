import { addSettings, type Defaults, Described, others } from '../help.js';

/** The output of `kube-apiserver --help`: the flags of a server that has these `defaults`. */
export function upstreamHelp(defaults: Defaults): string {
  const target = new Described('kube-apiserver', '[flags]', 'run the server in the foreground, as upstream does');
  target.option('--cert-dir <DIR>', 'directory of the certificate that the server makes (/var/run/kubernetes)');
  target.option('--admission-control <PLUGINS>', 'deprecated: exactly these admission plugins, with commas');
  addSettings(target, defaults);
  target.option('--version', 'print the release');
  target.option('-h, --help', 'print this');
  return target.helpInformation() + others();
}
