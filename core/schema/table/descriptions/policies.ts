/** Descriptions of admission, access and fairness, by package; README.md explains the form. */
export const POLICY_DESCRIPTIONS = {
  'admission.v1': `
AdmissionRequest What the server asks an admission webhook about.
 uid Id of this question. The answer repeats it.
 kind Kind and version of the object as it is sent to the webhook.
 resource Resource and version as it is sent to the webhook.
 subResource Subresource of the request, such as "status". Empty for the object itself.
 requestKind Kind and version of the original request, which may differ from kind by conversion.
 requestResource Resource and version of the original request.
 requestSubResource Subresource of the original request.
 name Name of the object. Empty in a create whose name the server makes.
 namespace Namespace of the object. Empty for objects of the cluster.
 operation "CREATE", "UPDATE", "DELETE" or "CONNECT".
 userInfo The user who sent the request.
 object The new object. Absent for a delete.
 oldObject The existing object. Absent for a create and a connect.
 dryRun Whether nothing will be stored. The webhook must then have no side effects.
 options Options of the request, such as CreateOptions.
AdmissionResponse The answer of an admission webhook.
 uid Id of the question that is answered.
 allowed Whether the request may continue.
 status Result for the client if the request is refused. Its code and message are passed on.
 patch JSON patch of the object, as bytes (base64 in JSON). Only of mutating webhooks.
 patchType Type of the patch: only "JSONPatch". Required with a patch.
 auditAnnotations Annotations for the audit event. The server puts the name of the webhook before each key.
 warnings Warnings for the client, each best below 120 characters.
AdmissionReview A question to an admission webhook, and its answer.
 request The question. Set by the server.
 response The answer. Set by the webhook.
`,
  'admissionregistration.v1': `
AuditAnnotation An annotation that a policy writes into audit events.
 key End of the key, after the name of the policy. Unique in the policy, at most 63 characters.
 valueExpression CEL expression whose string is the value. null writes no annotation.
ExpressionWarning A problem that the type check found in an expression.
 fieldRef Path of the field with the expression, such as "spec.validations[0].expression".
 warning Description of the problem, with the type that it occurs for.
MatchCondition A CEL condition for requests.
 name Name of the condition, unique in its list. It appears in messages.
 expression CEL expression over object, oldObject, request, authorizer and more that must return a bool.
MatchResources Selects requests by resource, namespace and labels. All that is set must match.
 namespaceSelector Selects by the labels of the namespace. Objects of the cluster other than namespaces always match.
  By default all match.
 objectSelector Selects by the labels of the new or the old object. By default all match.
 resourceRules Operations and resources that match. Without any, all match.
 excludeResourceRules Operations and resources that do not match although resourceRules does.
 matchPolicy "Exact" for the versions that are written, or "Equivalent" (default) for the same resource in other
  versions too.
MutatingWebhook A webhook that may change objects before they are stored.
 name Name of the webhook: a domain name of at least three labels, unique in the configuration.
 clientConfig How the webhook is reached.
 rules Operations and resources that the webhook is called for.
 failurePolicy What happens when the webhook cannot be called: "Fail" (default) or "Ignore".
 matchPolicy "Exact" for the versions that are written, or "Equivalent" (default) for the same resource in other
  versions too.
 namespaceSelector Selects by the labels of the namespace. Objects of the cluster other than namespaces always match.
  By default all match.
 objectSelector Selects by the labels of the new or the old object. By default all match.
 sideEffects "None", or "NoneOnDryRun". Other requests with dryRun are refused if it has others.
 timeoutSeconds Seconds after which a call has failed, 1 to 30, 10 by default.
 admissionReviewVersions Versions of AdmissionReview that the webhook understands, in order. The first that the server
  knows is sent.
 reinvocationPolicy "Never" (default), or "IfNeeded" to call it again after later changes.
 matchConditions CEL conditions that must all hold before the webhook is called, at most 64.
MutatingWebhookConfiguration Webhooks that may change objects before they are stored.
 webhooks Webhooks and what they are called for. They are called one after another.
NamedRuleWithOperations Operations, resources and names that are matched.
 resourceNames Names of objects that match. Empty means all.
ParamKind The kind of the parameters of a policy.
 apiVersion Group and version of the parameters.
 kind Kind of the parameters of the policy.
ParamRef Parameters that a binding uses. Exactly one of name and selector is set.
 name Name of the one parameter object.
 namespace Namespace of the parameters. By default that of the object under review. Not for parameters of the cluster.
 selector Selects parameters by labels. The policy is evaluated for each.
 parameterNotFoundAction What happens when no parameter is found: "Allow", or "Deny" with the failure policy. Required.
Rule Groups, versions and resources that are matched.
 apiGroups API groups, "" for the core group, or "*" alone for all.
 apiVersions Versions, or "*" alone for all.
 resources Resources and subresources: "pods", "pods/log", "pods/*", "*/scale", "*" without and "*/*" with
  subresources.
 scope "Cluster", "Namespaced" or "*" (default).
RuleWithOperations Operations and resources that are matched.
 operations "CREATE", "UPDATE", "DELETE", "CONNECT", or "*" for all.
ServiceReference Names a Service that is called.
 namespace Namespace of the Service. Required.
 name Name of the Service. Required.
 path Path of the URL that is called. By default none.
 port Port of the Service, 1 to 65535, 443 by default.
TypeChecking Result of the type check of a policy's expressions.
 expressionWarnings Problems that were found, one for each expression and type.
ValidatingAdmissionPolicy Rules in CEL that objects must satisfy. It has an effect where a binding names it.
 spec What the policy looks at and the rules.
 status Result of the type check.
ValidatingAdmissionPolicyBinding Puts a policy into effect, for certain resources and with parameters.
 spec Policy, parameters and what happens to violations.
ValidatingAdmissionPolicyBindingSpec How a policy is put into effect.
 policyName Name of the policy. If it does not exist, the binding has no effect.
 paramRef Parameters of the policy. Only if the policy has a paramKind.
 matchResources Narrows what the policy matches. By default all that the policy matches.
 validationActions What happens to violations: "Deny", "Warn" and "Audit". "Deny" and "Warn" exclude each other.
ValidatingAdmissionPolicySpec What a policy looks at, and its rules.
 paramKind Kind of the parameters, which expressions see as params. Absent means none.
 matchConstraints Requests that the policy looks at. Required.
 validations Rules. There must be at least one rule or audit annotation.
 failurePolicy What happens when an expression fails or the policy is not usable: "Fail" (default) or "Ignore".
 auditAnnotations Annotations for the audit event, at most 20.
 matchConditions CEL conditions that must all hold before the rules are evaluated, at most 64.
 variables Named expressions that others use as variables.NAME. Each sees the ones before it.
ValidatingAdmissionPolicyStatus Result of the checks of a policy.
 typeChecking Problems of types that were found. Present once the check is complete.
 conditions Conditions of the policy, one of each type.
ValidatingWebhook =MutatingWebhook A webhook that may refuse objects but not change them.
ValidatingWebhookConfiguration Webhooks that may refuse objects before they are stored.
 webhooks Webhooks and what they are called for. They are called at the same time.
Validation A rule in CEL that objects must satisfy.
 expression CEL expression that must be true, over object, oldObject, request, params, variables, authorizer and more.
 message Message of a violation, one line. Required if the expression has several lines.
 reason Reason of the answer: "Unauthorized", "Forbidden", "Invalid" (default) or "RequestEntityTooLarge".
 messageExpression CEL expression whose string is the message of a violation. message is used where it fails.
Variable A named expression that others refer to.
 name Name of the variable, a CEL identifier that is unique in the policy.
 expression CEL expression whose value the variable has. It is evaluated once, when it is first used.
WebhookClientConfig How a webhook is reached. Exactly one of url and service is set.
 url URL of the webhook, with https. User, query and fragment are not allowed.
 service Service of the cluster that is called, at port 443 by default.
 caBundle Certificates in PEM that the webhook's certificate is verified with. By default those of the system.
`,
  'admissionregistration.v1alpha1': `
ApplyConfiguration A mutation that is merged as a server-side apply.
 expression CEL expression that returns an object of the type Object with the fields to set.
JSONPatch A mutation that is a JSON patch.
 expression CEL expression that returns a list of JSONPatch operations.
MutatingAdmissionPolicy Mutations in CEL of objects before they are stored. It has an effect where a binding names it.
 spec What the policy looks at and the mutations.
MutatingAdmissionPolicyBinding Puts a mutating policy into effect, for certain resources and with parameters.
 spec Policy and parameters of the binding.
MutatingAdmissionPolicyBindingSpec How a mutating policy is put into effect.
 policyName Name of the policy. If it does not exist, the binding has no effect.
 paramRef Parameters of the policy. Only if the policy has a paramKind.
 matchResources Narrows what the policy matches. By default all that the policy matches.
MutatingAdmissionPolicySpec What a mutating policy looks at, and its mutations.
 paramKind Kind of the parameters, which expressions see as params. Absent means none.
 matchConstraints Requests that the policy looks at. Required; the operations may be "CREATE" and "UPDATE" only.
 variables Named expressions that others use as variables.NAME. Each sees the ones before it.
 mutations Mutations in the order in which they are made. At least one is required.
 failurePolicy What happens when an expression fails or the policy is not usable: "Fail" (default) or "Ignore".
 matchConditions CEL conditions that must all hold before objects are changed, at most 64.
 reinvocationPolicy "Never", or "IfNeeded" to run again after later changes. Required.
Mutation One mutation of a policy.
 patchType "ApplyConfiguration" or "JSONPatch"; the field of that name is set.
 applyConfiguration Fields that are merged into the object.
 jsonPatch Operations of a JSON patch.
`,
  'authentication.v1': `
BoundObjectReference Object that a token is bound to. The token is not valid after the object is deleted.
 kind Kind of the object: "Pod", "Secret" or "Node".
 apiVersion Version of the object, "v1": all kinds that a token can be bound to are of the core group.
 name Name of the object. A pod or Secret is in the namespace of the service account.
 uid Uid that the object must have; another one is a conflict. By default any.
ExtraValue Values of an extra attribute of a user.
 items Values of the attribute as strings.
SelfSubjectReview Asks the server who it takes the sender for. It is not stored.
 status The answer of the server.
SelfSubjectReviewStatus Who the server takes the sender for.
 userInfo Name, groups and further attributes of the sender.
TokenRequest Asks for a token of a service account, as the subresource token.
 spec Audiences, life and bound object of the token.
 status The token and when it ends.
TokenRequestSpec Audiences, life and bound object of a token.
 audiences Audiences that the token is for. By default that of the API server.
 expirationSeconds Life of the token in seconds, at least 600, 3600 by default. The server may shorten it.
 boundObjectRef Object that the token is bound to. Absent means the service account alone.
TokenRequestStatus The token and when it ends.
 token The token, a JSON Web Token.
 expirationTimestamp When the token stops being valid.
TokenReview Asks the server, or a webhook, whose token this is. It is not stored.
 spec The token and the audiences.
 status Whether it is valid, and for whom.
TokenReviewSpec The token in question and its audiences.
 token The token as the client sent it.
 audiences Audiences of the asking service. By default that of the API server.
TokenReviewStatus The answer about a token.
 authenticated Whether the token is valid.
 user The user that the token stands for.
 audiences Audiences that both the token and the asking service have. Empty means that of the API server.
 error Why the token could not be checked.
UserInfo The user who sent a request, with groups and attributes.
 username Name that identifies the user among all.
 uid Id of the user, which a later user of the same name does not have.
 groups Groups that the user is in.
 extra Further attributes that the authenticator gives, by key.
`,
  'authorization.v1': `
ExtraValue Values of an extra attribute of a user.
 items Values of the attribute as strings.
FieldSelectorAttributes The field selector of a request. rawSelector and requirements exclude each other.
 rawSelector The selector as text. The server parses it; what it cannot parse is left out of the decision.
 requirements The selector as conditions, joined by "and". Unknown operators make the decision as if there were none.
LabelSelectorAttributes The label selector of a request. rawSelector and requirements exclude each other.
 rawSelector The selector as text. The server parses it; what it cannot parse is left out of the decision.
 requirements The selector as conditions, joined by "and". Unknown operators make the decision as if there were none.
LocalSubjectAccessReview Asks whether a user may do something in one namespace. It is not stored.
 spec The user and the action. Its namespace must be that of the review.
 status The decision about the action.
NonResourceAttributes An action on a path that is no resource.
 path Path of the URL, such as "/healthz".
 verb Verb of HTTP in lower case, such as "get".
NonResourceRule Actions on paths that are allowed.
 verbs Verbs of HTTP in lower case, or "*" for all.
 nonResourceURLs Paths; "*" may be the last part of one.
ResourceAttributes An action on a resource, such as a get of pods.
 namespace Namespace of the action. Empty for objects of the cluster, or for all namespaces.
 verb Verb, such as "get", "list" or "create", or "*" for all.
 group API group, or "*" for all.
 version API version, or "*" for all.
 resource Plural name of the resource, or "*" for all.
 subresource Name of the subresource. Empty for none.
 name Name of the object. Empty means all.
 fieldSelector Field selector that narrows the action, for list, watch and deletecollection.
 labelSelector Label selector that narrows the action, for list, watch and deletecollection.
ResourceRule Actions on resources that are allowed.
 verbs Verbs, such as "get", or "*" for all.
 apiGroups API groups, or "*" for all.
 resources Resources, or "*" for all; "*/NAME" is a subresource of all.
 resourceNames Names of objects. Empty means all.
SelfSubjectAccessReview Asks whether the sender may do something. It is not stored.
 spec The action that is asked about.
 status The decision about the action.
SelfSubjectAccessReviewSpec The action. Exactly one field is set.
 resourceAttributes An action on a resource, such as a get of pods.
 nonResourceAttributes An action on a path that is no resource.
SelfSubjectRulesReview Asks what the sender may do in a namespace. It is not stored.
 spec The namespace that is asked about.
 status Actions that are allowed.
SelfSubjectRulesReviewSpec The namespace of the question.
 namespace Namespace that is asked about. Required.
SubjectAccessReview Asks whether a user may do something. It is not stored.
 spec The user and the action that is asked about.
 status The decision about the action.
SubjectAccessReviewSpec The user and the action. Exactly one of the attributes is set.
 resourceAttributes An action on a resource, such as a get of pods.
 nonResourceAttributes An action on a path that is no resource.
 user Name of the user. At least one of user and groups is required.
 groups Groups that the user is in.
 extra Further attributes of the user, by key.
 uid Id of the user, if it is known.
SubjectAccessReviewStatus The decision about an action.
 allowed Whether the action is allowed.
 denied Whether it is denied finally. If neither is true, no authorizer has an opinion.
 reason Why it is allowed or denied.
 evaluationError Error that occurred. The decision may be right in spite of it.
SubjectRulesReviewStatus What a user may do in a namespace.
 resourceRules Actions on resources that are allowed.
 nonResourceRules Actions on other paths that are allowed.
 incomplete Whether the lists are incomplete, because an authorizer cannot list its rules.
 evaluationError Error that occurred while the rules were collected.
`,
  'rbac.v1': `
AggregationRule Roles whose rules are collected into one.
 clusterRoleSelectors Selects ClusterRoles by labels. The rules of all that one of them selects are collected.
ClusterRole Rights that can be given for the cluster or for a namespace.
 rules Actions that are allowed. They are overwritten if there is an aggregationRule.
 aggregationRule Roles whose rules are collected here. A controller keeps them up to date.
ClusterRoleBinding Gives the rights of a ClusterRole to users, for the whole cluster.
 subjects Users, groups and service accounts that get the rights.
 roleRef ClusterRole whose rights are given. It cannot be changed.
PolicyRule Actions that are allowed. A rule is for resources or for other paths, not both.
 verbs Verbs, such as "get", or "*" for all. At least one is required.
 apiGroups API groups of the resources, "" for the core group, or "*" for all.
 resources Resources and subresources, such as "pods" or "pods/log", or "*" for all.
 resourceNames Names of objects that the rule is limited to. Empty means all.
 nonResourceURLs Paths that are no resources; "*" may be the last part. Only in ClusterRoles.
Role Rights that can be given in one namespace.
 rules Actions that are allowed in the namespace.
RoleBinding Gives the rights of a Role or ClusterRole to users, in one namespace.
 subjects Users, groups and service accounts that get the rights.
 roleRef Role of the namespace, or ClusterRole, whose rights are given. It cannot be changed.
RoleRef Names the role whose rights are given.
 apiGroup API group of the role. There is only one.
 kind Kind of the role: "Role" or "ClusterRole".
 name Name of the role that is referred to.
Subject A user, a group or a service account.
 kind "User", "Group" or "ServiceAccount".
 apiGroup API group of the subject. Empty for service accounts; by default that of roles for the others.
 name Name of the user, group or service account.
 namespace Namespace of the service account. Only for the kind "ServiceAccount".
`,
  'certificates.v1': `
CertificateSigningRequest Asks a signer for a certificate. It is approved by somebody and signed by a controller.
 spec The request. It cannot be changed.
 status Approval and the certificate.
CertificateSigningRequestCondition A condition of a request for a certificate.
 type "Approved", "Denied" or "Failed". "Approved" and "Denied" exclude each other and cannot be removed.
 status "True", "False" or "Unknown". "Approved", "Denied" and "Failed" must be "True".
CertificateSigningRequestSpec A request for a certificate. User and groups are filled in by the server.
 request The request in PEM, one block of the type CERTIFICATE REQUEST.
 signerName Signer that is asked, as DOMAIN/NAME. It decides which subjects and usages are allowed.
 expirationSeconds Wanted life of the certificate in seconds, at least 600. The signer may shorten it.
 usages Usages of the key, such as "digital signature" and "client auth". Required.
 username Name of the user who made the request.
 uid Id of the user who made the request.
 groups Groups of the user who made the request.
 extra Further attributes of the user who made the request.
CertificateSigningRequestStatus State of a request for a certificate.
 conditions Conditions of the request, one of each type.
 certificate The certificate with its chain in PEM, once the signer has issued it. It cannot be changed.
ExtraValue Values of an extra attribute of a user.
 items Values of the attribute as strings.
`,
  'certificates.v1alpha1': `
ClusterTrustBundle Certificates that pods may trust.
 spec Signer and certificates of the bundle.
ClusterTrustBundleSpec Signer and certificates of a bundle.
 signerName Signer that the bundle belongs to. It cannot be changed, and the name must then begin with it.
 trustBundle Certificates in PEM, without duplicates. Their order has no meaning.
`,
  'flowcontrol.v1': `
ExemptPriorityLevelConfiguration Settings of a level whose requests never wait.
 nominalConcurrencyShares Share of the concurrency that the level lends to others, 0 by default.
 lendablePercent Part of the nominal concurrency that others may borrow, 0 to 100 percent, 0 by default.
FlowDistinguisherMethod How requests of a schema are divided into flows.
 type "ByUser" or "ByNamespace": requests of one user, or to one namespace, are a flow.
FlowSchema Selects requests and gives them a priority level.
 spec Which requests, and their level.
 status State of the schema, with its conditions.
FlowSchemaCondition A condition of a flow schema.
 type Name of the condition: "Dangling".
 status "True", "False" or "Unknown".
FlowSchemaSpec Which requests a schema selects, and their level.
 priorityLevelConfiguration Level of the requests. If it does not exist, the schema is not used.
 matchingPrecedence Order among schemas, 1 to 10000, 1000 by default. The lowest that matches decides.
 distinguisherMethod How the requests are divided into flows. Absent means one flow.
 rules Rules of which one must match a request. None matches nothing.
FlowSchemaStatus State of a flow schema, with its conditions.
 conditions Conditions of the schema, one of each type.
GroupSubject A group of users whose requests match.
 name Name of the group, or "*" for all.
LimitResponse What happens to requests above the limit of a level.
 type "Queue" to let them wait, or "Reject" with 429.
 queuing Settings of the queues. Only for the type "Queue".
LimitedPriorityLevelConfiguration Settings of a level whose concurrency is limited.
 nominalConcurrencyShares Share of the server's concurrency, relative to that of other levels, 30 by default.
 limitResponse What happens to requests above the limit.
 lendablePercent Part of the nominal concurrency that others may borrow, 0 to 100 percent, 0 by default.
 borrowingLimitPercent Most that the level borrows from others, in percent of its nominal concurrency. By default there
  is no bound.
NonResourcePolicyRule Requests for paths that are no resources.
 verbs Verbs of HTTP in lower case, or "*" for all.
 nonResourceURLs Paths, such as "/healthz" or "/apis/*", or "*" for all.
PolicyRulesWithSubjects Requests of certain users. Subject and one of the rules must match.
 subjects Users, groups and service accounts. At least one is required.
 resourceRules Requests for resources that match.
 nonResourceRules Requests for other paths.
PriorityLevelConfiguration A level of priority, with its share of the server's concurrency.
 spec Kind and limits of the level.
 status State of the level, with its conditions.
PriorityLevelConfigurationCondition A condition of a priority level.
 type Name of the condition, unique in its list.
 status "True", "False" or "Unknown".
PriorityLevelConfigurationReference Names the priority level of a flow schema.
 name Name of the priority level.
PriorityLevelConfigurationSpec Kind and limits of a priority level.
 type "Limited", or "Exempt" for requests that never wait.
 limited Settings of the type "Limited".
 exempt Settings of the type "Exempt".
PriorityLevelConfigurationStatus State of a priority level.
 conditions Conditions of the level, one of each type.
QueuingConfiguration Queues of a priority level.
 queues Number of queues, 64 by default. More separate flows better and need more memory.
 handSize Number of queues that a flow may use, 8 by default. It must not be above queues.
 queueLengthLimit Most requests that wait in a queue, 50 by default. Others are refused with 429.
ResourcePolicyRule Requests for resources. Each part must match.
 verbs Verbs, such as "get", or "*" for all.
 apiGroups API groups, or "*" for all.
 resources Resources and subresources, or "*" for all.
 clusterScope Whether requests without a namespace match. False by default.
 namespaces Namespaces whose requests match, or "*" for all.
ServiceAccountSubject A service account whose requests match.
 namespace Namespace of the service account.
 name Name of the service account, or "*" for all of the namespace.
Subject A user, a group or a service account. The field that kind names is set.
 kind "User", "Group" or "ServiceAccount".
 user The user whose requests match.
 group The group whose requests match.
 serviceAccount The service account that is meant.
UserSubject A user whose requests match.
 name Name of the user, or "*" for all.
`,
};
