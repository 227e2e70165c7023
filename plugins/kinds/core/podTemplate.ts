import type { Naming } from '../../../core/naming.js';
import type { PodTemplate } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { column, labelsText, NAME } from '../shared/columns.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { validateTemplate } from '../shared/podSpec/validation.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { containersCell } from '../shared/podTemplateColumns.js';

const COLUMNS: readonly Column<PodTemplate>[] = [
  NAME,
  column('Containers', containersCell('name')),
  column('Images', containersCell('image')),
  column('Pod Labels', object => labelsText(object.template.metadata.labels)),
];

const strategy = (naming: Naming): Partial<Strategy<PodTemplate>> => ({
  hasGeneration: true,
  returnsDeletedObject: true,
  applyDefaults: object => setTemplateDefaults(object.template),
  validateCreate: object => validateTemplate(object.template, 'template', naming),
  validateUpdate: object => validateTemplate(object.template, 'template', naming),
  columns: COLUMNS,
});

/** PodTemplate, which no controller uses. */
export const podTemplate = builtInKind<PodTemplate>('core/podtemplates', naming =>
  withPodSpec(strategy(naming), naming, 'template.spec', object => object.template),
);
