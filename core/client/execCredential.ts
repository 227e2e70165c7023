import { spawn } from 'node:child_process';
import { EXEC_OUTPUT_BYTES } from '../limits.js';
import { areCertificates, isSendable, keyFault } from '../files/kubeconfigReader.js';
import { isAbsent, isRecord, recordAt, stringAt, type UnknownRecord, valueAt } from '../model/record.js';
import { namingOf } from '../naming.js';
import { namingOfVersion } from './kubeconfig.js';
import type { ClientCredentials, ExecPlugin } from './types.js';

const KIND = 'ExecCredential';

/** A time of RFC 3339, which `Date.parse` reads but does not require. */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:[Zz]|[+-]\d\d:\d\d)$/;

function expiryOf(status: UnknownRecord): number | undefined {
  const given = valueAt(status, 'expirationTimestamp');
  if (isAbsent(given)) return undefined;
  const time = typeof given === 'string' && TIME.test(given) ? Date.parse(given) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new Error('status.expirationTimestamp must be a time such as 2030-01-31T12:00:00Z');
}

/** A member of the status that must be a string; '' if it is absent. */
function textAt(status: UnknownRecord, name: string): string {
  const value = valueAt(status, name);
  if (isAbsent(value)) return '';
  if (typeof value === 'string') return value;
  throw new Error(`status.${name} must be a string`);
}

/**
 * Reads the output of a plugin (spec, "ExecCredential"). Throws an Error that names the field; the message never
 * contains a part of the credentials.
 */
function readExecCredential(output: string, apiVersion: string): ClientCredentials {
  const document = parse(output);
  if (stringAt(document, 'kind') !== KIND) throw new Error(`kind must be ${KIND}`);
  const given = stringAt(document, 'apiVersion');
  if (given !== apiVersion)
    throw new Error(`apiVersion must be ${apiVersion}, as in the kubeconfig, not ${JSON.stringify(given)}`);
  const status = recordAt(document, 'status');
  if (!status) throw new Error('status is missing');
  const token = textAt(status, 'token');
  if (token && !isSendable(token)) throw new Error('status.token must have visible ASCII characters only');
  const [certificate, key] = [textAt(status, 'clientCertificateData'), textAt(status, 'clientKeyData')];
  if (Boolean(certificate) !== Boolean(key))
    throw new Error('status.clientCertificateData and status.clientKeyData must both be set, or neither');
  if (!token && !certificate) throw new Error('status has neither a token nor a certificate with its key');
  if (certificate) {
    if (!areCertificates(certificate)) throw new Error('status.clientCertificateData must be certificates in PEM');
    const fault = keyFault({ certificate, key }, 'clientCertificateData');
    if (fault) throw new Error(`status.clientKeyData ${fault}`);
  }
  const expiresAt = expiryOf(status);
  return {
    ...(token && { token }),
    ...(certificate && { certificate, key }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

function parse(output: string): UnknownRecord {
  try {
    const value: unknown = JSON.parse(output);
    if (isRecord(value)) return value;
  } catch {
    // The error of the parser may repeat parts of the credentials.
  }
  throw new Error('the output is not a JSON object');
}

/** The text of an ExecCredential with these credentials. */
export const execCredentialText = (
  apiVersion: string,
  { token, certificate, key, expiresAt }: ClientCredentials,
): string =>
  JSON.stringify({
    kind: KIND,
    apiVersion,
    status: {
      ...(expiresAt === undefined ? {} : { expirationTimestamp: new Date(expiresAt).toISOString() }),
      ...(token && { token }),
      ...(certificate && { clientCertificateData: certificate, clientKeyData: key }),
    },
  });

/** Whether a plugin may read standard input. Throws an Error if it must, and there is no terminal. */
function isInteractive({ interactiveMode, command }: ExecPlugin, hasTerminal: boolean): boolean {
  if (interactiveMode === 'Never') return false;
  if (interactiveMode === 'Always' && !hasTerminal)
    throw new Error(`the credential plugin ${command} must ask on a terminal, and it may use none`);
  return hasTerminal;
}

/**
 * Runs a plugin, and reads the credentials that it prints. Its standard error is that of this process. It has no time
 * limit, because a user may be signing in. Rejects with an Error that names the plugin.
 */
export async function runPlugin(plugin: ExecPlugin, hasTerminal: boolean): Promise<ClientCredentials> {
  const { apiVersion, command, cluster } = plugin;
  const interactive = isInteractive(plugin, hasTerminal);
  const info = JSON.stringify({ kind: KIND, apiVersion, spec: { ...(cluster && { cluster }), interactive } });
  const output = await outputOf(plugin, interactive, info);
  try {
    return readExecCredential(output, apiVersion);
  } catch (error) {
    throw new Error(`the output of the credential plugin ${command} cannot be used: ${(error as Error).message}`);
  }
}

function outputOf(plugin: ExecPlugin, interactive: boolean, info: string): Promise<string> {
  const { apiVersion, command, args, env, installHint } = plugin;
  const variable = namingOf(namingOfVersion(apiVersion)).variable('ORCHESTRATOR_EXEC_INFO');
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`the credential plugin ${command} ${why}`));
    const child = spawn(command, args, {
      env: { ...process.env, ...Object.fromEntries(env), [variable]: info },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout!.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= EXEC_OUTPUT_BYTES) return void chunks.push(chunk);
      fail(`has printed more than ${EXEC_OUTPUT_BYTES} bytes`);
      // If the plugin continues after the signal, its output is not read, and its end is not awaited.
      child.stdout!.destroy();
      child.kill();
      child.unref();
    });
    child.stdout!.on('error', error => fail(`has output that cannot be read: ${error.message}`));
    child.on('error', (error: NodeJS.ErrnoException) => {
      const hint = installHint && `\n${installHint}`;
      fail(error.code === 'ENOENT' ? `is not installed${hint}` : `cannot be run: ${error.code ?? error.message}`);
    });
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else fail(code === null ? `was ended by ${signal}` : `has failed with exit code ${code}`);
    });
  });
}
