/** Storage name of CustomResourceDefinitions. */
export const DEFINITIONS = 'apiextensions.orchestrator.io/customresourcedefinitions';
