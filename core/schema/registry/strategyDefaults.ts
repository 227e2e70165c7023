import type { Strategy } from '../../api/strategy.js';
import type { Violation } from '../../model/refusal.js';
import { maskTrailingDash, dns1123Subdomain } from '../../model/names.js';

const doNothing = (): void => {};
const noViolations = (): readonly Violation[] => [];
const NO_FIELDS: Strategy['selectableFields'] = new Map();
const NO_ALIASES: Strategy['fieldAliases'] = new Map();

const DEFAULTS: Strategy = {
  checkName: (name, prefix) => dns1123Subdomain(prefix ? maskTrailingDash(name) : name),
  hasGeneration: false,
  hasStatus: false,
  allowCreateOnUpdate: false,
  allowUnconditionalUpdate: true,
  returnsDeletedObject: false,
  orphansByDefault: false,
  applyDefaults: doNothing,
  prepareCreate: doNothing,
  prepareUpdate: doNothing,
  prepareStatus: doNothing,
  validateCreate: noViolations,
  validateUpdate: noViolations,
  validateStatus: noViolations,
  gracePeriod: () => 0,
  selectableFields: NO_FIELDS,
  fieldAliases: NO_ALIASES,
};

/** Completes a strategy with the defaults: an object without status, whose name is a DNS-1123 subdomain. */
export const completeStrategy = (partial: Partial<Strategy> = {}): Strategy => ({ ...DEFAULTS, ...partial });
