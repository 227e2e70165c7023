import type { Strategy } from '../../core/api/strategy.js';
import type { Naming } from '../../core/naming.js';
import { admissionKinds } from './admissionregistration/index.js';
import { appsKinds } from './apps/index.js';
import { autoscalingKinds } from './autoscaling/index.js';
import { batchKinds } from './batch/index.js';
import { certificateKinds } from './certificates/index.js';
import { coreKinds } from './core/index.js';
import { discoveryKinds } from './discovery/index.js';
import { extensionKinds } from './extensions/index.js';
import { flowKinds } from './flowcontrol/index.js';
import { networkingKinds } from './networking/index.js';
import { policyKinds } from './policy/index.js';
import { rbacKinds } from './rbac/index.js';
import { smallKinds } from './small.js';
import { storageKinds } from './storage/index.js';
import type { KindTable } from './strategies.js';

const KINDS: KindTable = {
  ...coreKinds,
  ...appsKinds,
  ...batchKinds,
  ...autoscalingKinds,
  ...networkingKinds,
  ...policyKinds,
  ...rbacKinds,
  ...storageKinds,
  ...smallKinds,
  ...certificateKinds,
  ...discoveryKinds,
  ...extensionKinds,
  ...admissionKinds,
  ...flowKinds,
};

/** Storage names that have rules of their own, in neutral names. */
export const kindsWithRules: readonly string[] = Object.keys(KINDS);

/** The rules of each built-in kind by neutral storage name; undefined for kinds that are plain objects. */
export function strategiesFor(naming: Naming): (storageName: string) => Partial<Strategy> | undefined {
  const made = new Map(Object.entries(KINDS).map(([name, make]) => [name, make(naming)]));
  return storageName => made.get(storageName);
}
