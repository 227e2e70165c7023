/** The fields of the API that hold expressions, and the variables each may use. */

/** A field, or several fields with the same variables. */
export interface ExpressionField {
  /** The kind and the path of the field. */
  readonly field: string;
  /** Variables by name, with a description. */
  readonly variables: Readonly<Record<string, string>>;
}

const RULE = { self: 'the value that the rule belongs to', oldSelf: 'the same value before an update' };
const REQUEST_OF_ADMISSION = {
  object: 'the object of the request, null on deletion',
  oldObject: 'the stored object, null on creation',
  request: 'the admission request',
};
const AUTHORIZER = {
  authorizer: 'asks for decisions on behalf of the requester',
  'authorizer.requestResource': 'a check of the resource of the request',
};
const POLICY = {
  ...REQUEST_OF_ADMISSION,
  params: 'the parameter object, null without one',
  namespaceObject: 'the namespace of the object, null for cluster-wide kinds',
  variables: 'the variables defined in the policy',
  ...AUTHORIZER,
};

/** Every field, in the order of the documentation. */
export const EXPRESSION_FIELDS: readonly ExpressionField[] = [
  { field: 'CustomResourceDefinition x-kubernetes-validations[].rule, messageExpression', variables: RULE },
  { field: 'ValidatingAdmissionPolicy validations[].expression, messageExpression', variables: POLICY },
  { field: 'ValidatingAdmissionPolicy auditAnnotations[].valueExpression, variables[].expression', variables: POLICY },
  {
    field: 'ValidatingAdmissionPolicy matchConditions[].expression',
    variables: { ...REQUEST_OF_ADMISSION, params: POLICY.params, ...AUTHORIZER },
  },
  {
    field: 'admission webhook configurations matchConditions[].expression',
    variables: { ...REQUEST_OF_ADMISSION, ...AUTHORIZER },
  },
  {
    field: 'AuthenticationConfiguration jwt[].claimValidationRules[].expression, claimMappings.*.expression',
    variables: { claims: 'the payload of the token' },
  },
  {
    field: 'AuthenticationConfiguration jwt[].userValidationRules[].expression',
    variables: { user: 'the user made of the claims' },
  },
  {
    field: 'AuthorizationConfiguration authorizers[].webhook.matchConditions[].expression',
    variables: { request: 'the access review' },
  },
];
