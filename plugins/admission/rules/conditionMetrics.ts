import type { Host } from '../../../core/api/host.js';
import type { ConditionsObserver } from '../../../core/schema/expressions/conditions.js';

const METRIC = 'apiserver_admission_match_condition';

/** Counts evaluations of match conditions under these labels. */
export const conditionObserver =
  ({ observe }: Pick<Host<'pool'>, 'observe'>, labels: { readonly [name: string]: string }): ConditionsObserver =>
  (seconds, outcome) => {
    observe(`${METRIC}_evaluation_seconds`, labels, seconds);
    if (outcome === 'error') observe(`${METRIC}_evaluation_errors_total`, labels, 1);
    if (outcome === 'excluded') observe(`${METRIC}_exclusions_total`, labels, 1);
  };
