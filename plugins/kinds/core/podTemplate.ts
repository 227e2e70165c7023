import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { recordAt, valueAt } from '../../../core/model/record.js';
import { column, labelsText, NAME } from '../shared/columns.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { validateTemplate } from '../shared/podSpec/validation.js';
import { warnAboutPodSpec } from '../shared/podSpec/warnings.js';
import { containersCell } from '../shared/podTemplateColumns.js';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Containers', containersCell('name')),
  column('Images', containersCell('image')),
  column('Pod Labels', object => labelsText(valueAt(object, 'template', 'metadata', 'labels'))),
];

const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  returnsDeletedObject: true,
  applyDefaults: object => setTemplateDefaults(recordAt(object, 'template')),
  validateCreate: object => validateTemplate(recordAt(object, 'template'), 'template'),
  validateUpdate: object => validateTemplate(recordAt(object, 'template'), 'template'),
  columns: COLUMNS,
});

/** PodTemplate, which no controller uses. */
export const podTemplate = builtInKind('core/podtemplates', naming =>
  warnAboutPodSpec(strategy(), naming, 'template', 'spec'),
);
