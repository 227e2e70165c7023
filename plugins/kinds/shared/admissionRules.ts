import { ensureRecord, recordsAt, setDefault, type UnknownRecord } from '../../../core/model/record.js';

/** Rules of webhooks and policies match resources of all scopes by default. */
export function setRuleDefaults(rules: readonly UnknownRecord[]): void {
  for (const rule of rules) setDefault(rule, 'scope', '*');
}

/** Defaults of the match constraints of a policy. */
export function setMatchDefaults(match: UnknownRecord): void {
  setDefault(match, 'matchPolicy', 'Equivalent');
  ensureRecord(match, 'namespaceSelector');
  ensureRecord(match, 'objectSelector');
  setRuleDefaults([...recordsAt(match, 'resourceRules'), ...recordsAt(match, 'excludeResourceRules')]);
}
