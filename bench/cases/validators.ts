import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Capstan, sendAsAdmin, startCapstan } from '../lib/capstan.js';
import type { Case, Row } from '../lib/case.js';
import { VALIDATORS } from '../lib/validators.js';
import { CREATES, define, measure, REGISTRATION, rulesOf } from './admission.js';

const KINDS = ['plain', 'validated', 'policed'] as const;
const POLICIES = 100;
/** The limit for the time that a validator of a plugin may add, in µs. */
const AIM_US = 20;

/** Policies of the policed kind, each with a condition, two variables and two validations. */
async function installPolicies(server: Capstan): Promise<void> {
  for (let i = 0; i < POLICIES; i++) {
    const metadata = { name: `bench-${i}` };
    await sendAsAdmin(server, 'POST', `${REGISTRATION}/validatingadmissionpolicies`, {
      metadata,
      spec: {
        matchConstraints: { resourceRules: rulesOf('policed') },
        matchConditions: [{ name: 'named', expression: 'has(object.spec.name)' }],
        variables: [
          { name: 'size', expression: 'object.spec.name.size()' },
          { name: 'sum', expression: `object.spec.f1 + object.spec.f2 + ${i}` },
        ],
        validations: [
          { expression: 'variables.size < 100' },
          { expression: 'variables.sum < 1000', message: 'too many' },
        ],
      },
    });
    await sendAsAdmin(server, 'POST', `${REGISTRATION}/validatingadmissionpolicybindings`, {
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    });
  }
}

const validatorsCase: Case = {
  name: 'validators',
  async run({ dir, tls, short }): Promise<Row[]> {
    const config = join(dir, 'validators.json');
    const use = fileURLToPath(new URL('../lib/validators.js', import.meta.url));
    writeFileSync(config, JSON.stringify({ plugins: [{ use }] }));
    const server = await startCapstan({ dataDir: join(dir, 'validators'), tls, flags: [`--config=${config}`] });
    try {
      for (const kind of KINDS) await define(kind, (...request) => sendAsAdmin(server, ...request));
      await installPolicies(server);
      const times = await measure(KINDS, server, tls, short ? CREATES.short : CREATES.long);
      const [plain, validated, policed] = KINDS.map(kind => times.get(kind)!) as [number, number, number];
      const note = 'tenth percentile of dry runs over one connection';
      return [
        {
          case: `create, one of ${VALIDATORS} validators: added`,
          unit: 'µs',
          value: ((validated - plain) * 1000) / VALIDATORS,
          baseline: AIM_US,
          aim: 1,
          atMost: true,
          note,
        },
        { case: `create, ${POLICIES} policies`, unit: 'ms', value: policed, baseline: plain, note },
      ];
    } finally {
      await server.close();
    }
  },
};

/** Costs of a validator of a plugin, and of many policies, in creates of custom objects. */
export const validators: readonly Case[] = [validatorsCase];
