/** A CEL engine: environments, compiled programs, schema types, cost. See README.md. */
export { createEnvironment, type Compiled, type Environment, type EnvironmentOptions } from './environment.js';
export type { Library } from './library.js';
export type { Activation, Outcome, Program } from './evaluate/plan.js';
export {
  CALL_BUDGET,
  cardinality,
  costMessage,
  EXPRESSION_COST_LIMIT,
  REQUEST_BUDGET,
  SCHEMA_COST_LIMIT,
  SchemaCost,
  unboundedCardinality,
  type CostRange,
  type CostViolation,
} from './cost/cost.js';
export { declare, declareGlobal, DeclarationError, parseType, type Overload } from './check/declarations.js';
export { EXPRESSION_FIELDS, type ExpressionField } from './fields.js';
export { type PlainJson, toJson } from './evaluate/json.js';
export { escapeName } from './schema/names.js';
export { schemaType, type Schema } from './schema/schema.js';
export type { SchemaType } from './schema/schemaType.js';
export {
  formatType,
  listType,
  mapType,
  opaqueType,
  optionalType,
  type Type,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  NULL,
  STRING,
  TIMESTAMP,
  UINT,
} from './check/types.js';
export {
  ArrayList,
  CelError,
  Dict,
  Double,
  Duration,
  fromPlain,
  List,
  MapDict,
  Message,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  Unknown,
  type Value,
} from './evaluate/values.js';
export {
  allLibraries,
  BLOCK,
  DEFAULT_VERSION,
  librariesOf,
  validationOf,
  widestLibraries,
  type CompatibilityVersion,
  type FeatureGates,
} from './versions.js';
export { display } from './evaluate/text.js';
export { evaluationMessage, runTable, type Table } from './tables.js';
export { JSON_PATCH_TYPE, MUTATION_LIBRARY, OBJECT_TYPE, wrongTypeName } from './lib/mutation.js';
export {
  AUTHORIZER_LIBRARY,
  AUTHORIZER_SELECTORS,
  AUTHORIZER_TYPE,
  Authorizer,
  type AuthorizationAnswer,
  type AuthorizationQuery,
  type AuthorizerHost,
  evaluateWithAuthorizer,
  RESOURCE_CHECK_TYPE,
  resourceCheck,
} from './lib/authorizer.js';
