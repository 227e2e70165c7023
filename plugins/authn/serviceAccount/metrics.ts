import type { MetricDefinition } from '../../../core/api/index.js';

/** Counters of the uses of tokens. Credentials that are in the caches are not counted again. */
export const TOKEN_METRICS = [
  {
    name: 'serviceaccount_legacy_auto_token_uses_total',
    type: 'counter',
    help: 'Uses of legacy tokens that were made automatically.',
  },
  {
    name: 'serviceaccount_legacy_manual_token_uses_total',
    type: 'counter',
    help: 'Uses of legacy tokens that users made.',
  },
  { name: 'serviceaccount_legacy_tokens_total', type: 'counter', help: 'Uses of legacy tokens of service accounts.' },
  {
    name: 'serviceaccount_stale_tokens_total',
    type: 'counter',
    help: 'Uses of tokens of service accounts that should have been replaced.',
  },
  {
    name: 'serviceaccount_valid_tokens_total',
    type: 'counter',
    help: 'Uses of tokens of service accounts that need not be replaced yet.',
  },
] as const satisfies readonly MetricDefinition[];

/** The names of these counters. */
export type TokenCounter = (typeof TOKEN_METRICS)[number]['name'];
