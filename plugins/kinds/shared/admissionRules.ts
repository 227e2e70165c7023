import { ensureRecord, recordsAt, setDefault, type UnknownRecord } from '../../../core/model/record.js';

export function setRuleDefaults(rules: readonly UnknownRecord[]): void {
  for (const rule of rules) setDefault(rule, 'scope', '*');
}

export function setMatchDefaults(match: UnknownRecord): void {
  setDefault(match, 'matchPolicy', 'Equivalent');
  ensureRecord(match, 'namespaceSelector');
  ensureRecord(match, 'objectSelector');
  setRuleDefaults([...recordsAt(match, 'resourceRules'), ...recordsAt(match, 'excludeResourceRules')]);
}
