import type { Pod, ServiceAccount } from '../../kinds/v1.js';
import { validator, type Validator } from '../../core/api/admission.js';
import type { Host, Informer } from '../../core/api/host.js';
import { definePlugin } from '../../core/api/plugin.js';
import type { Plugin } from '../../core/api/point.js';
import type { Frozen } from '../../core/model/object.js';
import { Refusal } from '../../core/model/refusal.js';
import { parseGoBool } from '../../core/model/text/goBool.js';
import { type AnyContainer, parseNothing, podForbiddenError } from './podDraft.js';

/** The account that new pods may use before a controller has made it: it limits nothing. */
const DEFAULT = 'default';

/** The first use of a secret by containers that is not allowed. `kind` is the name of the containers in messages. */
function forbiddenUse(
  kind: string,
  containers: readonly AnyContainer[],
  isAllowed: (secret: string) => boolean,
): string | undefined {
  for (const { name, env, envFrom } of containers) {
    for (const { name: variable, valueFrom } of env ?? []) {
      const secret = valueFrom?.secretKeyRef && (valueFrom.secretKeyRef.name ?? '');
      if (secret !== undefined && !isAllowed(secret))
        return `${kind} ${name} with envVar ${variable} referencing secret.secretName="${secret}"`;
    }
    for (const { secretRef } of envFrom ?? []) {
      const secret = secretRef && (secretRef.name ?? '');
      if (secret !== undefined && !isAllowed(secret))
        return `${kind} ${name} with envFrom referencing secret.secretName="${secret}"`;
    }
  }
  return undefined;
}

/** Returns the function that tells whether an account lists a secret. */
function secretsOf({ secrets = [] }: ServiceAccount): (secret: string) => boolean {
  const names = new Set(secrets.map(({ name }) => name));
  return secret => names.has(secret);
}

/** The first object that a new pod uses and its account does not permit; undefined if there is none. */
function forbiddenInPod({ spec }: Frozen<Pod>, account: ServiceAccount): string | undefined {
  const name = account.metadata.name ?? '';
  const isAllowed = secretsOf(account);
  const volume = (spec.volumes ?? []).find(({ secret }) => secret && !isAllowed(secret.secretName ?? ''));
  const use =
    (volume && `volume with secret.secretName="${volume.secret?.secretName ?? ''}"`) ??
    forbiddenUse('init container', spec.initContainers ?? [], isAllowed) ??
    forbiddenUse('container', spec.containers ?? [], isAllowed);
  if (use !== undefined) return `${use} is not allowed because service account ${name} does not reference that secret`;
  const pulls = new Set((account.imagePullSecrets ?? []).map(secret => secret.name));
  for (const [i, secret] of (spec.imagePullSecrets ?? []).entries()) {
    if (pulls.has(secret.name)) continue;
    return (
      `imagePullSecrets[${i}].name="${secret.name ?? ''}" is not allowed because service account ${name} does not ` +
      'reference that imagePullSecret'
    );
  }
  return undefined;
}

/** Refuses pods that use secrets which their account does not list, if an annotation of the account requires that. */
function limit(host: Host<'pool'>): Validator {
  const accounts = host.informer('core/serviceaccounts') as Informer<ServiceAccount>;
  const annotation = host.naming.label('orchestrator.io/enforce-mountable-secrets');
  const mirror = host.naming.label('orchestrator.io/config.mirror');
  return {
    on: {
      groups: [''],
      resources: ['pods'],
      operations: ['CREATE', 'UPDATE'],
      subresources: ['', 'ephemeralcontainers'],
    },
    validate({ operation, target }, object) {
      const pod = object as Frozen<Pod>;
      const isOfEphemeral = target.subresource === 'ephemeralcontainers';
      if (operation === 'UPDATE' && !isOfEphemeral) return [];
      // The plugin of mirror pods refuses all their secrets.
      if (pod.metadata.annotations?.[mirror] !== undefined) return [];
      const name = pod.spec.serviceAccountName ?? '';
      const account = accounts.get(target.namespace, name);
      if (!account) {
        if (name === DEFAULT) return [];
        throw podForbiddenError(
          pod.metadata,
          `error looking up service account ${target.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
        );
      }
      if (!parseGoBool(account.metadata.annotations?.[annotation] ?? '')) return [];
      if (!isOfEphemeral) {
        const why = forbiddenInPod(pod, account);
        if (why !== undefined) throw podForbiddenError(pod.metadata, why);
        return [];
      }
      const use = forbiddenUse('ephemeral container', pod.spec.ephemeralContainers ?? [], secretsOf(account));
      if (use === undefined) return [];
      // 500 without a reason: upstream's answer.
      throw new Refusal('', `${use} is not allowed because service account ${name} does not reference that secret`);
    },
  };
}

/** The secrets that pods of a service account may use: a part of the admission plugin ServiceAccount. */
export default definePlugin<undefined>({
  name: 'mountable-secrets',
  parse: parseNothing,
  contribute: () => [validator.of(limit)],
}) satisfies Plugin<undefined>;
