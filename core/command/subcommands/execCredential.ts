import { ConfigError } from '../../api/point.js';
import { execCredentialText } from '../../client/execCredential.js';
import { loadCredentials } from '../../client/index.js';
import { EXEC_VERSIONS } from '../../client/kubeconfig.js';
import { atFlag } from '../../settings/atFlag.js';
import { parseArguments, refuseOperands, requireValue } from '../arguments.js';
import { flagsOf } from '../commands.js';
import type { Io } from '../serve.js';

/**
 * `capstan exec-credential`: prints the credentials of the user of a kubeconfig. Returns the exit code. Throws
 * ConfigError for bad arguments and a bad kubeconfig, and an Error that says why there are no credentials.
 */
export async function execCredentialCommand(args: readonly string[], io: Io): Promise<number> {
  const parsed = parseArguments(args, flagsOf('exec-credential'));
  refuseOperands('exec-credential', parsed);
  const { context } = parsed.values;
  const kubeconfig = requireValue(parsed, 'kubeconfig', 'FILE');
  const access = atFlag('--kubeconfig', () =>
    loadCredentials({ kubeconfig, ...(typeof context === 'string' && { context }) }),
  );
  const credentials = await access.get();
  if (!credentials.token && !credentials.certificate)
    throw new ConfigError(
      '--kubeconfig',
      `${kubeconfig}: users: the user of the context has no credentials; give it exec, a token or a client certificate`,
    );
  io.out(execCredentialText(access.execVersion ?? EXEC_VERSIONS[0]!, credentials));
  return 0;
}
